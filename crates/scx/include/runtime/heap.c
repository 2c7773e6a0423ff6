/* Memory: blocks of powers of two with a list of free ones for each size; larger ones as they come. */

#define SMALLEST 32
#define CLASSES 16
#define CLASS_LARGE CLASSES

struct scx_free { struct scx_free *next; };
extern unsigned char __heap_base;
static u64 heap_at, heap_end;
static struct scx_free *free_blocks[CLASSES];

static void *fresh(u64 size)
{
	u64 at;

	if (!heap_at) {
		heap_at = ((u64)&__heap_base + 15) & ~15ULL;
		heap_end = (u64)__builtin_wasm_memory_size(0) << 16;
	}
	if (size > heap_end - heap_at) {
		u64 pages = (size - (heap_end - heap_at) + 65535) >> 16;

		/* A few pages at once, if the limit allows it. */
		if (pages >= 16 || (s64)__builtin_wasm_memory_grow(0, 16) < 0) {
			if ((s64)__builtin_wasm_memory_grow(0, pages) < 0)
				return NULL;
		}
		heap_end = (u64)__builtin_wasm_memory_size(0) << 16;
	}
	at = heap_at;
	heap_at += size;
	return (void *)at;
}

/* Zeroed memory with one reference; NULL when there is none left. */
static void *scx_heap(u64 size, u32 kind)
{
	u64 whole = size + sizeof(struct scx_block), rounded = SMALLEST;
	struct scx_block *block;
	u32 class = 0;

	if (size > 1ULL << 32)
		return NULL;
	while (rounded < whole && class < CLASSES) {
		rounded <<= 1;
		class++;
	}
	if (class == CLASSES) {
		block = fresh((whole + 15) & ~15ULL);
	} else if (free_blocks[class]) {
		block = (void *)free_blocks[class];
		free_blocks[class] = free_blocks[class]->next;
		__builtin_memset(block, 0, rounded);
	} else {
		block = fresh(rounded);
	}
	if (!block)
		return NULL;
	block->class = class;
	block->kind = kind;
	block->refs = 1;
	return block + 1;
}

static void scx_heap_free(void *memory)
{
	struct scx_block *block = (struct scx_block *)memory - 1;
	struct scx_free *free = (void *)block;
	u32 class;

	if (!memory)
		return;
	class = block->class;
	block->kind = KIND_PLAIN;
	block->refs = 0;
	if (class >= CLASSES)
		return;
	free->next = free_blocks[class];
	free_blocks[class] = free;
}

static void *scx_hold(void *memory)
{
	if (memory)
		((struct scx_block *)memory - 1)->refs++;
	return memory;
}

static void scx_release(void *memory)
{
	struct scx_block *block = (struct scx_block *)memory - 1;

	if (!memory || !block->refs)
		return;
	if (--block->refs == 0)
		scx_heap_free(memory);
}

void *EXPORT(scx_alloc)(u64 size)
{
	return scx_heap(size, KIND_PLAIN);
}

void *bpf_obj_new_impl(u64 size, void *meta)
{
	return scx_heap(size, KIND_OBJECT);
}

void bpf_obj_drop_impl(void *object, void *meta)
{
	scx_release(object);
}

void *bpf_refcount_acquire_impl(void *object, void *meta)
{
	return scx_hold(object);
}

void *bpf_kptr_xchg(void *field, void *value)
{
	void *old = *(void **)field;

	*(void **)field = value;
	return old;
}

void *memset(void *to, int byte, size_t size)
{
	return __builtin_memset(to, byte, size);
}

void *memcpy(void *to, const void *from, size_t size)
{
	return __builtin_memcpy(to, from, size);
}

void *memmove(void *to, const void *from, size_t size)
{
	return __builtin_memmove(to, from, size);
}

int memcmp(const void *a, const void *b, size_t size)
{
	const u8 *x = a, *y = b;

	for (size_t i = 0; i < size; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* ---- Arenas: runs of pages; those that were freed are taken first, the smallest that suffices */

#define ARENA_PAGE 4096
struct scx_run { struct scx_run *next; u64 pages; };
static struct scx_run *free_runs;

void *bpf_arena_alloc_pages(void *map, void *at, u32 pages, int node, u64 flags)
{
	struct scx_run **best = NULL, *run;
	u64 memory;

	if (!pages)
		return NULL;
	for (struct scx_run **next = &free_runs; *next; next = &(*next)->next)
		if ((*next)->pages >= pages && (!best || (*next)->pages < (*best)->pages))
			best = next;
	if (best) {
		run = *best;
		*best = run->next;
		if (run->pages > pages)
			bpf_arena_free_pages(map, (u8 *)run + (u64)pages * ARENA_PAGE, run->pages - pages);
		return __builtin_memset(run, 0, (u64)pages * ARENA_PAGE);
	}
	/* One page more, to begin at a page. */
	memory = (u64)fresh(((u64)pages + 1) * ARENA_PAGE);
	return memory ? (void *)((memory + ARENA_PAGE - 1) & ~(u64)(ARENA_PAGE - 1)) : NULL;
}

void bpf_arena_free_pages(void *map, void *at, u32 pages)
{
	struct scx_run *run = at;

	if (!run || !pages)
		return;
	run->pages = pages;
	run->next = free_runs;
	free_runs = run;
}

int bpf_arena_reserve_pages(void *map, void *at, u32 pages)
{
	return 0;
}

ssize_t bpf_arena_mapping_nr_pages(void *map)
{
	return 0;
}
