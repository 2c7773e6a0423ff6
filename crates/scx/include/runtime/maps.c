/* Maps of BPF, and storage of tasks and cgroups. The first word of a map's definition holds its struct scx_map. */

struct scx_entry { struct scx_entry *chain, *older, *newer; u64 hash; u8 bytes[]; };

struct scx_map {
	void *definition;
	u32 type, key_size, value_size, max_entries, flags;
	u32 stride;			/* bytes of a value, a multiple of 8 */
	u32 copies;			/* values for each key: one, or one for each cpu */
	u32 slot;			/* of task or cgroup storage */
	u32 count, head, buckets;
	u32 nr_references, references[16];
	u8 *values;
	struct scx_entry **table, *oldest, *newest;
	struct scx_map *next;
};

static struct scx_map *all_maps;
static u32 nr_slots;

static __always_inline struct scx_map *map_of(const void *definition)
{
	return *(struct scx_map *const *)definition;
}

static bool is_hash(u32 type)
{
	return type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_LRU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH || type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

static bool is_lru(u32 type)
{
	return type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static bool is_of_maps(u32 type)
{
	return type == BPF_MAP_TYPE_ARRAY_OF_MAPS || type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

s32 EXPORT(scx_map_setup)(void *definition, u32 type, u32 key_size, u32 value_size, u32 max_entries, u32 flags)
{
	struct scx_map *map = scx_heap(sizeof(*map), KIND_PLAIN);
	bool per_cpu = type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
		       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;

	if (!map)
		return -ENOMEM;
	*map = (struct scx_map){
		.definition = definition, .type = type, .key_size = key_size, .value_size = value_size,
		.max_entries = max_entries, .flags = flags, .stride = (value_size + 7) & ~7U,
		.copies = per_cpu ? scx_state.nr_cpus : 1, .next = all_maps,
	};
	if (is_of_maps(type))
		map->stride = map->value_size = 8;
	if (type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_QUEUE ||
	    type == BPF_MAP_TYPE_STACK || type == BPF_MAP_TYPE_ARRAY_OF_MAPS) {
		u64 bytes = (u64)map->stride * map->copies * max_entries;

		map->values = scx_heap(bytes ?: 8, KIND_PLAIN);
		if (!map->values)
			return -ENOMEM;
	} else if (is_hash(type)) {
		map->buckets = 16;
		while (map->buckets < max_entries && map->buckets < 65536)
			map->buckets <<= 1;
		map->table = scx_heap((u64)map->buckets * 8, KIND_PLAIN);
		if (!map->table)
			return -ENOMEM;
	} else if (type == BPF_MAP_TYPE_TASK_STORAGE || type == BPF_MAP_TYPE_CGRP_STORAGE) {
		if (nr_slots == SCX_STORAGE_SLOTS)
			return -ENOSPC;
		map->slot = nr_slots++;
	}
	all_maps = map;
	*(struct scx_map **)definition = map;
	return 0;
}

void EXPORT(scx_map_reference)(void *definition, u32 offset)
{
	struct scx_map *map = map_of(definition);

	if (map && map->nr_references < 16 && offset + 8 <= map->value_size)
		map->references[map->nr_references++] = offset;
}

void EXPORT(scx_map_inner)(void *definition, u32 index, void *inner)
{
	struct scx_map *map = map_of(definition);

	if (map && map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS && index < map->max_entries)
		((void **)map->values)[index] = inner;
	else if (map && map->type == BPF_MAP_TYPE_HASH_OF_MAPS && map->key_size == 4)
		bpf_map_update_elem(definition, &index, &inner, BPF_ANY);
}

/* References and timers of a value end with it, or when it is written over. */
static void value_ends(struct scx_map *map, void *value)
{
	for (u32 i = 0; i < map->nr_references; i++) {
		void **field = value + map->references[i];

		scx_release(*field);
		*field = NULL;
	}
}

static u64 hash_of(const struct scx_map *map, const u8 *key)
{
	u64 hash = 0x9e3779b97f4a7c15ULL;
	u32 i = 0;

	for (; i + 8 <= map->key_size; i += 8) {
		u64 word;

		__builtin_memcpy(&word, key + i, 8);
		hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
		hash ^= hash >> 32;
	}
	for (; i < map->key_size; i++)
		hash = (hash ^ key[i]) * 0x100000001b3ULL;
	return hash ^ hash >> 29;
}

static __always_inline void *entry_value(const struct scx_map *map, struct scx_entry *entry)
{
	return entry->bytes + ((map->key_size + 7) & ~7U);
}

static struct scx_entry *hash_find(struct scx_map *map, const void *key, u64 hash)
{
	struct scx_entry *entry = map->table[hash & (map->buckets - 1)];

	while (entry && (entry->hash != hash || memcmp(entry->bytes, key, map->key_size)))
		entry = entry->chain;
	return entry;
}

static void age_unlink(struct scx_map *map, struct scx_entry *entry)
{
	*(entry->older ? &entry->older->newer : &map->oldest) = entry->newer;
	*(entry->newer ? &entry->newer->older : &map->newest) = entry->older;
}

static void age_append(struct scx_map *map, struct scx_entry *entry)
{
	entry->newer = NULL;
	entry->older = map->newest;
	*(map->newest ? &map->newest->newer : &map->oldest) = entry;
	map->newest = entry;
}

static void hash_remove(struct scx_map *map, struct scx_entry *entry)
{
	struct scx_entry **at = &map->table[entry->hash & (map->buckets - 1)];

	while (*at != entry)
		at = &(*at)->chain;
	*at = entry->chain;
	age_unlink(map, entry);
	for (u32 i = 0; i < map->copies; i++)
		value_ends(map, entry_value(map, entry) + (u64)i * map->stride);
	map->count--;
	scx_heap_free(entry);
}

/* The values of this key, one behind the other for each cpu. */
static void *values_of(struct scx_map *map, const void *key)
{
	if (!map)
		return NULL;
	if (map->values && map->type != BPF_MAP_TYPE_QUEUE && map->type != BPF_MAP_TYPE_STACK) {
		u32 index = *(const u32 *)key;

		if (index >= map->max_entries)
			return NULL;
		return map->values + (u64)index * map->stride * map->copies;
	}
	if (map->table) {
		struct scx_entry *entry = hash_find(map, key, hash_of(map, key));

		if (!entry)
			return NULL;
		if (is_lru(map->type) && entry != map->newest) {
			age_unlink(map, entry);
			age_append(map, entry);
		}
		return entry_value(map, entry);
	}
	return NULL;
}

void *bpf_map_lookup_elem(const void *definition, const void *key)
{
	struct scx_map *map = map_of(definition);
	void *values = values_of(map, key);

	if (!values)
		return NULL;
	if (is_of_maps(map->type))
		return *(void **)values;
	if (map->copies > 1)
		values += (u64)scx_state.cpu * map->stride;
	return values;
}

void *bpf_map_lookup_percpu_elem(const void *definition, const void *key, u32 cpu)
{
	struct scx_map *map = map_of(definition);
	void *values;

	if (cpu >= scx_state.nr_cpus)
		return NULL;
	values = values_of(map, key);
	if (!values)
		return NULL;
	return map->copies > 1 ? values + (u64)cpu * map->stride : values;
}

long bpf_map_update_elem(const void *definition, const void *key, const void *value, u64 flags)
{
	struct scx_map *map = map_of(definition);
	struct scx_entry *entry;
	u64 hash, offset;
	void *values;

	if (!map || (flags & ~BPF_F_LOCK) > BPF_EXIST)
		return -EINVAL;
	values = values_of(map, key);
	if (!values && !map->table)
		return -E2BIG;
	if (values && (flags & BPF_NOEXIST))
		return -EEXIST;
	if (!values && (flags & BPF_EXIST))
		return -ENOENT;
	if (!values) {
		if (map->count >= map->max_entries) {
			if (!is_lru(map->type) || !map->oldest)
				return -E2BIG;
			hash_remove(map, map->oldest);
		}
		hash = hash_of(map, key);
		entry = scx_heap(sizeof(*entry) + ((map->key_size + 7) & ~7U) + (u64)map->stride * map->copies,
				 KIND_PLAIN);
		if (!entry)
			return -ENOMEM;
		entry->hash = hash;
		entry->chain = map->table[hash & (map->buckets - 1)];
		map->table[hash & (map->buckets - 1)] = entry;
		__builtin_memcpy(entry->bytes, key, map->key_size);
		age_append(map, entry);
		map->count++;
		values = entry_value(map, entry);
	}
	offset = map->copies > 1 ? (u64)scx_state.cpu * map->stride : 0;
	value_ends(map, values + offset);
	__builtin_memcpy(values + offset, value, map->value_size);
	for (u32 i = 0; i < map->nr_references; i++)
		*(void **)(values + offset + map->references[i]) = NULL;
	return 0;
}

long bpf_map_delete_elem(const void *definition, const void *key)
{
	struct scx_map *map = map_of(definition);
	struct scx_entry *entry;

	if (!map || !map->table)
		return -EINVAL;
	entry = hash_find(map, key, hash_of(map, key));
	if (!entry)
		return -ENOENT;
	hash_remove(map, entry);
	return 0;
}

/* For bpf_for_each_map_elem(): the entries of an array by index, of a hash from the oldest. */
bool scx_map_first(struct scx_map_cursor *at, const void *definition)
{
	struct scx_map *map = map_of(definition);

	*at = (struct scx_map_cursor){ .map = map, .entry = map ? map->oldest : NULL };
	return scx_map_next(at);
}

bool scx_map_next(struct scx_map_cursor *at)
{
	struct scx_map *map = at->map;
	u64 offset;

	if (!map)
		return false;
	offset = map->copies > 1 ? (u64)scx_state.cpu * map->stride : 0;
	if (map->table) {
		struct scx_entry *entry = at->entry;

		if (!entry)
			return false;
		at->key = entry->bytes;
		at->value = entry_value(map, entry) + offset;
		at->entry = entry->newer;
		return true;
	}
	if (!map->values || at->next >= map->max_entries)
		return false;
	at->index = at->next++;
	at->key = &at->index;
	at->value = map->values + (u64)at->index * map->stride * map->copies + offset;
	return true;
}

/* ---- Queue and stack */

long bpf_map_push_elem(const void *definition, const void *value, u64 flags)
{
	struct scx_map *map = map_of(definition);

	if (!map || !map->values || !map->max_entries)
		return -EINVAL;
	if (map->count == map->max_entries) {
		if (!(flags & BPF_EXIST))
			return -E2BIG;
		map->head = (map->head + 1) % map->max_entries;
		map->count--;
	}
	__builtin_memcpy(map->values + (u64)((map->head + map->count) % map->max_entries) * map->stride, value,
			 map->value_size);
	map->count++;
	return 0;
}

static long take(const void *definition, void *value, bool keep)
{
	struct scx_map *map = map_of(definition);
	u32 index;

	if (!map || !map->values)
		return -EINVAL;
	if (!map->count) {
		__builtin_memset(value, 0, map->value_size);
		return -ENOENT;
	}
	index = map->type == BPF_MAP_TYPE_STACK ? (map->head + map->count - 1) % map->max_entries : map->head;
	__builtin_memcpy(value, map->values + (u64)index * map->stride, map->value_size);
	if (keep)
		return 0;
	if (map->type != BPF_MAP_TYPE_STACK)
		map->head = (map->head + 1) % map->max_entries;
	map->count--;
	return 0;
}

long bpf_map_pop_elem(const void *definition, void *value)
{
	return take(definition, value, false);
}

long bpf_map_peek_elem(const void *definition, void *value)
{
	return take(definition, value, true);
}

/* ---- Storage of tasks and cgroups */

static void *storage_get(struct scx_map *map, void ***storage, const void *value, u64 flags)
{
	void *data;

	if (!map)
		return NULL;
	if (*storage && (*storage)[map->slot])
		return (*storage)[map->slot];
	if (!(flags & BPF_LOCAL_STORAGE_GET_F_CREATE))
		return NULL;
	if (!*storage) {
		*storage = scx_heap(SCX_STORAGE_SLOTS * sizeof(void *), KIND_PLAIN);
		if (!*storage)
			return NULL;
	}
	data = scx_heap(map->stride, KIND_PLAIN);
	if (data && value)
		__builtin_memcpy(data, value, map->value_size);
	(*storage)[map->slot] = data;
	return data;
}

static long storage_delete(struct scx_map *map, void **storage)
{
	if (!map || !storage || !storage[map->slot])
		return -ENOENT;
	value_ends(map, storage[map->slot]);
	scx_heap_free(storage[map->slot]);
	storage[map->slot] = NULL;
	return 0;
}

void *bpf_task_storage_get(const void *definition, const struct task_struct *task, const void *value, u64 flags)
{
	return task ? storage_get(map_of(definition), &((struct task_struct *)task)->__storage, value, flags) : NULL;
}

long bpf_task_storage_delete(const void *definition, const struct task_struct *task)
{
	return task ? storage_delete(map_of(definition), task->__storage) : -EINVAL;
}

void *bpf_cgrp_storage_get(const void *definition, const struct cgroup *cgroup, const void *value, u64 flags)
{
	return cgroup ? storage_get(map_of(definition), &((struct cgroup *)cgroup)->__storage, value, flags) : NULL;
}

long bpf_cgrp_storage_delete(const void *definition, const struct cgroup *cgroup)
{
	return cgroup ? storage_delete(map_of(definition), cgroup->__storage) : -EINVAL;
}

static void scx_storage_gone(void **storage, u32 type)
{
	if (!storage)
		return;
	for (struct scx_map *map = all_maps; map; map = map->next)
		if (map->type == type)
			storage_delete(map, storage);
	scx_heap_free(storage);
}

/* ---- Messages to user space: there is none, they are dropped */

void *bpf_ringbuf_reserve(void *buffer, u64 size, u64 flags)
{
	return scx_heap(size, KIND_PLAIN);
}

void bpf_ringbuf_submit(void *data, u64 flags)
{
	scx_heap_free(data);
}

void bpf_ringbuf_discard(void *data, u64 flags)
{
	scx_heap_free(data);
}

long bpf_ringbuf_output(void *buffer, const void *data, u64 size, u64 flags)
{
	return 0;
}

long bpf_seq_write(struct seq_file *file, const void *data, u32 size)
{
	return 0;
}

u64 bpf_ringbuf_query(void *buffer, u64 flags)
{
	return 0;
}

long bpf_user_ringbuf_drain(const void *map, void *function, void *context, u64 flags)
{
	return 0;
}

long bpf_perf_event_output(void *context, void *map, u64 flags, void *data, u64 size)
{
	return 0;
}

u64 bpf_perf_event_read(void *map, u64 flags)
{
	return (u64)-ENOENT;
}

long bpf_perf_event_read_value(void *map, u64 flags, struct bpf_perf_event_value *value, u32 size)
{
	return -ENOENT;
}

/* ---- Timers */

/*
 * Callbacks that take their key as an integer of 32 bits. In BPF every argument has 64 bits, here a call has to have
 * the type of the function: the build writes the indices of such functions over this list.
 */
volatile u32 __scx_narrow_callbacks[32] = { 0x5cc0de00 };

static bool is_narrow(void *function)
{
	for (u32 i = 0; i < 32 && __scx_narrow_callbacks[i]; i++)
		if (__scx_narrow_callbacks[i] == (u32)(u64)function)
			return true;
	return false;
}

struct scx_timer { struct scx_map *map; void *value, *function; u32 index, returns; };

static bool timer_place(struct scx_timer *record, struct scx_map *map, u8 *timer)
{
	record->map = map;
	if (map->values) {
		u64 offset = timer - map->values, size = (u64)map->stride * map->copies;

		if (timer < map->values || offset >= size * map->max_entries)
			return false;
		record->index = offset / size;
		record->value = map->values + offset / map->stride * map->stride;
		return true;
	}
	for (struct scx_entry *entry = map->newest; entry; entry = entry->older) {
		u8 *value = entry_value(map, entry);

		if (timer >= value && timer < value + map->stride) {
			record->value = value;
			return true;
		}
	}
	return false;
}

long bpf_timer_init(struct bpf_timer *timer, const void *definition, u64 flags)
{
	struct scx_timer *record;

	if (timer->word[0])
		return -EBUSY;
	record = scx_heap(sizeof(*record), KIND_PLAIN);
	if (!record)
		return -ENOMEM;
	if (!map_of(definition) || !timer_place(record, map_of(definition), (u8 *)timer)) {
		scx_heap_free(record);
		return -EINVAL;
	}
	timer->word[0] = (u64)record;
	return 0;
}

long scx_timer_set_callback(struct bpf_timer *timer, void *function, u32 returns)
{
	struct scx_timer *record = (void *)timer->word[0];

	if (!record)
		return -EINVAL;
	record->function = function;
	record->returns = returns;
	return 0;
}

long bpf_timer_start(struct bpf_timer *timer, u64 nanoseconds, u64 flags)
{
	struct scx_timer *record = (void *)timer->word[0];

	if (!record || !record->function || flags & ~(u64)(BPF_F_TIMER_ABS | BPF_F_TIMER_CPU_PIN))
		return -EINVAL;
	return host_scx_timer_start(timer, nanoseconds, flags);
}

long bpf_timer_cancel(struct bpf_timer *timer)
{
	return timer->word[0] ? host_scx_timer_cancel(timer) : -EINVAL;
}

static void call_back(const struct scx_timer *record, void *key)
{
	void *map = record->map->definition, *value = record->value;
	s32 narrow = (s32)(u64)key;

	if (is_narrow(record->function)) {
		if (record->returns == 8)
			((s64 (*)(void *, s32, void *))record->function)(map, narrow, value);
		else if (record->returns == 4)
			((s32 (*)(void *, s32, void *))record->function)(map, narrow, value);
		else
			((void (*)(void *, s32, void *))record->function)(map, narrow, value);
	} else if (record->returns == 8) {
		((s64 (*)(void *, void *, void *))record->function)(map, key, value);
	} else if (record->returns == 4) {
		((s32 (*)(void *, void *, void *))record->function)(map, key, value);
	} else {
		((void (*)(void *, void *, void *))record->function)(map, key, value);
	}
}

void EXPORT(scx_timer_fire)(struct bpf_timer *timer)
{
	struct scx_timer *record = (void *)timer->word[0];
	void *key;

	if (!record || !record->function)
		return;
	key = record->map->values ? (u8 *)&record->index : (u8 *)record->value - ((record->map->key_size + 7) & ~7U);
	call_back(record, key);
}
