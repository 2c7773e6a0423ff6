/* Masks of cpus. Bits from the number of cpus on are always 0. */

static __always_inline u32 words(void)
{
	return (scx_state.nr_cpus + 63) / 64;
}

static u64 word_of(const struct cpumask *a, const struct cpumask *b, u32 i)
{
	return b ? a->bits[i] & b->bits[i] : a->bits[i];
}

/* The first cpu of a (and b) from this one on; the number of cpus if there is none. */
static u32 first_from(const struct cpumask *a, const struct cpumask *b, u32 cpu)
{
	for (u32 i = cpu / 64; i < words(); i++) {
		u64 word = word_of(a, b, i);

		if (i == cpu / 64)
			word &= ~0ULL << (cpu % 64);
		if (word)
			return i * 64 + __builtin_ctzll(word);
	}
	return scx_state.nr_cpus;
}

struct bpf_cpumask *bpf_cpumask_create(void)
{
	return scx_heap(sizeof(struct bpf_cpumask), KIND_MASK);
}

struct bpf_cpumask *bpf_cpumask_acquire(struct bpf_cpumask *mask)
{
	return scx_hold(mask);
}

void bpf_cpumask_release(struct bpf_cpumask *mask)
{
	scx_release(mask);
}

u32 bpf_cpumask_first(const struct cpumask *mask)
{
	return first_from(mask, NULL, 0);
}

u32 bpf_cpumask_first_and(const struct cpumask *a, const struct cpumask *b)
{
	return first_from(a, b, 0);
}

u32 bpf_cpumask_first_zero(const struct cpumask *mask)
{
	for (u32 i = 0; i < words(); i++)
		if (~mask->bits[i]) {
			u32 cpu = i * 64 + __builtin_ctzll(~mask->bits[i]);

			return cpu < scx_state.nr_cpus ? cpu : scx_state.nr_cpus;
		}
	return scx_state.nr_cpus;
}

void bpf_cpumask_set_cpu(u32 cpu, struct bpf_cpumask *mask)
{
	if (cpu < scx_state.nr_cpus)
		mask->cpumask.bits[cpu / 64] |= 1UL << (cpu % 64);
}

void bpf_cpumask_clear_cpu(u32 cpu, struct bpf_cpumask *mask)
{
	if (cpu < scx_state.nr_cpus)
		mask->cpumask.bits[cpu / 64] &= ~(1UL << (cpu % 64));
}

bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask)
{
	return cpu < scx_state.nr_cpus && (mask->bits[cpu / 64] >> (cpu % 64) & 1);
}

bool bpf_cpumask_test_and_set_cpu(u32 cpu, struct bpf_cpumask *mask)
{
	bool old = bpf_cpumask_test_cpu(cpu, &mask->cpumask);

	bpf_cpumask_set_cpu(cpu, mask);
	return old;
}

bool bpf_cpumask_test_and_clear_cpu(u32 cpu, struct bpf_cpumask *mask)
{
	bool old = bpf_cpumask_test_cpu(cpu, &mask->cpumask);

	bpf_cpumask_clear_cpu(cpu, mask);
	return old;
}

void bpf_cpumask_setall(struct bpf_cpumask *mask)
{
	for (u32 i = 0; i < words(); i++)
		mask->cpumask.bits[i] = ~0UL;
	if (scx_state.nr_cpus % 64)
		mask->cpumask.bits[words() - 1] = (1UL << (scx_state.nr_cpus % 64)) - 1;
}

void bpf_cpumask_clear(struct bpf_cpumask *mask)
{
	for (u32 i = 0; i < words(); i++)
		mask->cpumask.bits[i] = 0;
}

bool bpf_cpumask_and(struct bpf_cpumask *to, const struct cpumask *a, const struct cpumask *b)
{
	u64 any = 0;

	for (u32 i = 0; i < words(); i++)
		any |= to->cpumask.bits[i] = a->bits[i] & b->bits[i];
	return any != 0;
}

void bpf_cpumask_or(struct bpf_cpumask *to, const struct cpumask *a, const struct cpumask *b)
{
	for (u32 i = 0; i < words(); i++)
		to->cpumask.bits[i] = a->bits[i] | b->bits[i];
}

void bpf_cpumask_xor(struct bpf_cpumask *to, const struct cpumask *a, const struct cpumask *b)
{
	for (u32 i = 0; i < words(); i++)
		to->cpumask.bits[i] = a->bits[i] ^ b->bits[i];
}

bool bpf_cpumask_equal(const struct cpumask *a, const struct cpumask *b)
{
	for (u32 i = 0; i < words(); i++)
		if (a->bits[i] != b->bits[i])
			return false;
	return true;
}

bool bpf_cpumask_intersects(const struct cpumask *a, const struct cpumask *b)
{
	for (u32 i = 0; i < words(); i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

bool bpf_cpumask_subset(const struct cpumask *a, const struct cpumask *b)
{
	for (u32 i = 0; i < words(); i++)
		if (a->bits[i] & ~b->bits[i])
			return false;
	return true;
}

bool bpf_cpumask_empty(const struct cpumask *mask)
{
	return bpf_cpumask_first(mask) >= scx_state.nr_cpus;
}

bool bpf_cpumask_full(const struct cpumask *mask)
{
	return bpf_cpumask_first_zero(mask) >= scx_state.nr_cpus;
}

void bpf_cpumask_copy(struct bpf_cpumask *to, const struct cpumask *from)
{
	for (u32 i = 0; i < words(); i++)
		to->cpumask.bits[i] = from->bits[i];
}

u32 bpf_cpumask_weight(const struct cpumask *mask)
{
	u32 count = 0;

	for (u32 i = 0; i < words(); i++)
		count += __builtin_popcountll(mask->bits[i]);
	return count;
}

/* The next cpu after the one that the last call gave, so that calls go round. */
u32 bpf_cpumask_any_and_distribute(const struct cpumask *a, const struct cpumask *b)
{
	static u32 last;
	u32 cpu = first_from(a, b, last + 1 < scx_state.nr_cpus ? last + 1 : 0);

	if (cpu >= scx_state.nr_cpus)
		cpu = first_from(a, b, 0);
	if (cpu < scx_state.nr_cpus)
		last = cpu;
	return cpu;
}

u32 bpf_cpumask_any_distribute(const struct cpumask *mask)
{
	return bpf_cpumask_any_and_distribute(mask, mask);
}

int bpf_cpumask_populate(struct cpumask *to, void *from, size_t size)
{
	if (size < words() * 8)
		return -EACCES;
	if ((u64)from % 8)
		return -EINVAL;
	__builtin_memcpy(to->bits, from, words() * 8);
	return 0;
}

int bpf_iter_bits_new(struct bpf_iter_bits *it, const u64 *bits, u32 nr_words)
{
	it->words = bits;
	it->nr_words = nr_words;
	it->bit = -1;
	return bits && nr_words ? 0 : -EINVAL;
}

int *bpf_iter_bits_next(struct bpf_iter_bits *it)
{
	u32 bit = it->bit + 1;

	for (u32 i = bit / 64; it->words && i < it->nr_words; i++) {
		u64 word = it->words[i];

		if (i == bit / 64)
			word &= ~0ULL << (bit % 64);
		if (word) {
			it->bit = i * 64 + __builtin_ctzll(word);
			return &it->bit;
		}
	}
	return NULL;
}

void bpf_iter_bits_destroy(struct bpf_iter_bits *it)
{
}
