/* Text: formats as BPF knows them, and reads of memory and strings. */

struct scx_text { char *to; u32 size, length; };

static void put(struct scx_text *text, char c)
{
	if (text->length + 1 < text->size)
		text->to[text->length] = c;
	text->length++;
}

static void put_number(struct scx_text *text, u64 value, bool negative, u32 base, bool capitals, u32 width,
		       bool zeros, bool left)
{
	const char *digits = capitals ? "0123456789ABCDEF" : "0123456789abcdef";
	char reversed[24];
	u32 count = 0, taken;

	do {
		reversed[count++] = digits[value % base];
		value /= base;
	} while (value);
	taken = count + negative;
	if (negative && zeros)
		put(text, '-');
	for (; !left && taken < width; taken++)
		put(text, zeros ? '0' : ' ');
	if (negative && !zeros)
		put(text, '-');
	while (count)
		put(text, reversed[--count]);
	for (; left && taken < width; taken++)
		put(text, ' ');
}

static void put_string(struct scx_text *text, const char *string, u32 width, u32 most, bool left)
{
	u32 length = 0;

	while (length < most && string[length])
		length++;
	for (u32 i = length; !left && i < width; i++)
		put(text, ' ');
	for (u32 i = 0; i < length; i++)
		put(text, string[i]);
	for (u32 i = length; left && i < width; i++)
		put(text, ' ');
}

static const char *take_number(const char *at, u32 *number)
{
	for (*number = 0; *at >= '0' && *at <= '9'; at++)
		if (*number < 1000)
			*number = *number * 10 + (*at - '0');
	return at;
}

/* One conversion after its `%`; returns the place behind it. */
static const char *convert(struct scx_text *text, const char *at, u64 value)
{
	bool left = false, zeros = false, alternate = false, negative;
	u32 width, most = 1024, longs = 0, shorts = 0;

	for (;; at++) {
		if (*at == '-')
			left = true;
		else if (*at == '0')
			zeros = true;
		else if (*at == '#')
			alternate = true;
		else if (*at != '+' && *at != ' ')
			break;
	}
	at = take_number(at, &width);
	if (*at == '.')
		at = take_number(at + 1, &most);
	for (; *at == 'l' || *at == 'z' || *at == 'h'; at++) {
		longs += *at != 'h';
		shorts += *at == 'h';
	}
	if (!longs)
		value = *at == 'd' || *at == 'i' ? (u64)(s64)(s32)value : *at == 'p' || *at == 's' ? value : (u32)value;
	if (shorts)
		value = (u16)value;
	switch (*at) {
	case 'd':
	case 'i':
		negative = (s64)value < 0;
		put_number(text, negative ? -value : value, negative, 10, false, width, zeros, left);
		return at + 1;
	case 'u':
		put_number(text, value, false, 10, false, width, zeros, left);
		return at + 1;
	case 'x':
	case 'X':
		if (alternate)
			put_string(text, "0x", 0, 2, false);
		put_number(text, value, false, 16, *at == 'X', width, zeros, left);
		return at + 1;
	case 'c':
		put(text, (char)value);
		return at + 1;
	case 's':
		put_string(text, (const char *)value, width, most, left);
		return at + 1;
	case 'p':
		put_string(text, "0x", 0, 2, false);
		put_number(text, value, false, 16, false, width, zeros, left);
		at++;
		while ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z'))
			at++;
		return at;
	}
	return *at ? at + 1 : at;
}

/* Writes the text with a 0 at its end; returns its length, without what did not fit. */
static u32 scx_format(char *to, u32 size, const char *format, const u64 *data, u32 nr_data)
{
	struct scx_text text = { .to = to, .size = size };
	u32 next = 0;

	if (!size)
		return 0;
	while (*format) {
		if (*format != '%') {
			put(&text, *format++);
		} else if (format[1] == '%') {
			put(&text, '%');
			format += 2;
		} else {
			format = convert(&text, format + 1, next < nr_data ? data[next] : 0);
			next++;
		}
	}
	if (text.length >= size)
		text.length = size - 1;
	to[text.length] = 0;
	return text.length;
}

static char message[1024];

void scx_bpf_error_bstr(char *format, unsigned long long *data, u32 data_size)
{
	host_scx_error(message, scx_format(message, sizeof(message), format, (u64 *)data, data_size / 8));
}

void scx_bpf_exit_bstr(s64 code, char *format, unsigned long long *data, u32 data_size)
{
	host_scx_exit(code, message, scx_format(message, sizeof(message), format, (u64 *)data, data_size / 8));
}

void scx_bpf_dump_bstr(char *format, unsigned long long *data, u32 data_size)
{
	host_scx_dump(message, scx_format(message, sizeof(message), format, (u64 *)data, data_size / 8));
}

long bpf_snprintf(char *text, u32 size, const char *format, u64 *data, u32 data_size)
{
	return scx_format(text, size, format, data, data_size / 8) + 1;
}

long bpf_probe_read_kernel(void *to, u32 size, const void *from)
{
	__builtin_memcpy(to, from, size);
	return 0;
}

/* The length with its 0, as the kernel counts; an address of 0 gives an empty string and -EFAULT. */
long bpf_probe_read_kernel_str(void *to, u32 size, const void *from)
{
	const char *source = from;
	char *text = to;
	u32 length = 0;

	if (!size)
		return 0;
	if (!source) {
		*text = 0;
		return -EFAULT;
	}
	while (length + 1 < size && source[length]) {
		text[length] = source[length];
		length++;
	}
	text[length] = 0;
	return length + 1;
}

#define SAME_READ(name) \
	long name(void *to, u32 size, const void *from) { return bpf_probe_read_kernel(to, size, from); }
#define SAME_READ_STR(name) \
	long name(void *to, u32 size, const void *from) { return bpf_probe_read_kernel_str(to, size, from); }
SAME_READ(bpf_probe_read)
SAME_READ(bpf_probe_read_user)
SAME_READ(bpf_copy_from_user)
SAME_READ_STR(bpf_probe_read_str)
SAME_READ_STR(bpf_probe_read_user_str)

long bpf_copy_from_user_task(void *to, u32 size, const void *from, struct task_struct *task, u64 flags)
{
	return -EFAULT;
}

long bpf_strncmp(const char *text, u32 size, const char *other)
{
	for (u32 i = 0; i < size; i++) {
		if (text[i] != other[i])
			return (u8)text[i] < (u8)other[i] ? -1 : 1;
		if (!text[i])
			return 0;
	}
	return 0;
}
