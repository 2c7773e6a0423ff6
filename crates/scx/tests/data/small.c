/*
 * The source of small.wasm, from which the tests of the build read debug information where no clang is:
 *
 *   clang --target=wasm64 -mcpu=mvp -O2 -gdwarf-4 -ffreestanding -fdebug-prefix-map=$PWD=. -c small.c -o small.o
 *   wasm-ld -mwasm64 --no-entry --export-table --allow-undefined --export=small_ops --export=set small.o -o small.wasm
 */
typedef unsigned long long u64;
typedef unsigned int u32;
#define SEC(name) __attribute__((btf_decl_tag("sec:" name)))
#define __kptr __attribute__((btf_type_tag("kptr")))
#define __uint(name, value) int (*name)[value]
#define __type(name, value) typeof(value) *name

struct mask { u64 bits[2]; };
struct value { u64 count; struct mask __kptr *mine; struct { u32 a; struct mask __kptr *other; } more; };

struct {
	__uint(type, 2);
	__uint(max_entries, 7);
	__type(key, u32);
	__type(value, struct value);
} table SEC(".maps");

struct inner { __uint(type, 22); __uint(max_entries, 16); __type(value, u32); } queue SEC(".maps");
struct {
	__uint(type, 12);
	__uint(max_entries, 2);
	__type(key, u32);
	struct inner *values[];
} queues SEC(".maps") = { .values = { [1] = &queue } };

const volatile _Bool on = 1;
const volatile int level = -3;
volatile u64 limits[3] = { 5, 6, 7 };
struct settings { u32 first; struct { short second; } deep; unsigned bits : 3; char *text; } settings = { 9, { -2 } };
u64 unused = 1;
char _license[] SEC("license") = "GPL";
static volatile u64 hidden = 4;

int unknown_kfunc(void *map);

int enqueue(u64 p, u64 flags)
{
	hidden += limits[1] + settings.first + settings.deep.second + level + on;
	return unknown_kfunc(&table);
}

int init(void)
{
	return unknown_kfunc(&queues);
}

struct argument { u32 cpu; u32 cache; };
SEC("syscall") int set(struct argument *argument)
{
	settings.first = argument->cpu;
	return 0;
}

struct sched_ext_ops {
	void (*enqueue)(u64, u64);
	void (*tick)(u64);
	int (*init)(void);
	u64 flags;
	u32 timeout_ms;
	char name[128];
};
SEC(".struct_ops.link") struct sched_ext_ops small_ops = {
	.enqueue = (void *)enqueue, .init = init, .flags = 3, .timeout_ms = 5000, .name = "small",
};
