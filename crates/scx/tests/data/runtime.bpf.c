/* Tests of the runtime: every program returns 0, or the line of what did not hold. */
#include <scx/common.bpf.h>
#include <scx/percpu.bpf.h>

#define HOLD(condition) do { if (!(condition)) return __LINE__; } while (0)

struct pair { u32 a, b; };
struct kept { struct bpf_cpumask __kptr *mask; u64 count; struct bpf_timer timer; };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 3);
	__type(key, struct pair);
	__type(value, u64);
} hash SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u64);
} lru SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, u32);
	__type(value, struct kept);
} array SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u64);
} per_cpu SEC(".maps");
struct fifo {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 2);
	__type(value, u32);
} fifo SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 2);
	__type(value, u32);
} stack SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 3);
	__type(key, u32);
	__array(values, struct fifo);
} of_maps SEC(".maps") = { .values = { [2] = &fifo } };
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct kept);
} storage SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_CGRP_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, u64);
} group_storage SEC(".maps");

SEC("syscall") int test_hash(void *context)
{
	struct pair key = { 1, 2 }, other = { 2, 1 };
	u64 value = 5, *found;

	HOLD(!bpf_map_lookup_elem(&hash, &key));
	HOLD(bpf_map_update_elem(&hash, &key, &value, BPF_EXIST) == -ENOENT);
	HOLD(bpf_map_update_elem(&hash, &key, &value, BPF_NOEXIST) == 0);
	HOLD(bpf_map_update_elem(&hash, &key, &value, BPF_NOEXIST) == -EEXIST);
	found = bpf_map_lookup_elem(&hash, &key);
	HOLD(found && *found == 5);
	*found = 6;
	HOLD(*(u64 *)bpf_map_lookup_elem(&hash, &key) == 6);
	HOLD(!bpf_map_lookup_elem(&hash, &other));
	HOLD(bpf_map_delete_elem(&hash, &other) == -ENOENT);
	HOLD(bpf_map_update_elem(&hash, &other, &value, 0) == 0);
	other.a = 3;
	HOLD(bpf_map_update_elem(&hash, &other, &value, 0) == 0);
	other.a = 4;
	HOLD(bpf_map_update_elem(&hash, &other, &value, 0) == -E2BIG);
	HOLD(bpf_map_delete_elem(&hash, &key) == 0);
	HOLD(!bpf_map_lookup_elem(&hash, &key));
	HOLD(bpf_map_update_elem(&hash, &other, &value, 0) == 0);
	return 0;
}

static long add(void *map, u32 *key, u64 *value, u64 *sum)
{
	*sum = *sum * 10 + *value;
	return 0;
}

SEC("syscall") int test_lru(void *context)
{
	u64 value, sum = 0;
	u32 key;

	bpf_for(key, 1, 3) {
		value = key;
		HOLD(!bpf_map_update_elem(&lru, &key, &value, 0));
	}
	key = 1;
	HOLD(bpf_map_lookup_elem(&lru, &key));
	key = value = 3;
	HOLD(!bpf_map_update_elem(&lru, &key, &value, 0));
	/* 2 was looked at the longest ago. */
	key = 2;
	HOLD(!bpf_map_lookup_elem(&lru, &key));
	HOLD(bpf_for_each_map_elem(&lru, add, &sum, 0) == 2 && sum == 13);
	return 0;
}

SEC("syscall") int test_array(void *context)
{
	struct bpf_cpumask *mask = bpf_cpumask_create(), *old;
	struct kept *kept, fresh = { .count = 7 };
	u32 key = 4;

	HOLD(!bpf_map_lookup_elem(&array, &key));
	HOLD(bpf_map_update_elem(&array, &key, &fresh, 0) == -E2BIG);
	key = 3;
	kept = bpf_map_lookup_elem(&array, &key);
	HOLD(kept && !kept->count && mask);
	old = bpf_kptr_xchg(&kept->mask, mask);
	HOLD(!old && kept->mask == mask);
	HOLD(bpf_map_update_elem(&array, &key, &fresh, BPF_NOEXIST) == -EEXIST);
	/* A new value takes the reference of the old one away. */
	HOLD(bpf_map_update_elem(&array, &key, &fresh, 0) == 0);
	HOLD(kept->count == 7 && !kept->mask);
	HOLD(bpf_cpumask_create() == mask);
	HOLD(bpf_map_delete_elem(&array, &key) == -EINVAL);
	return 0;
}

SEC("syscall") int test_per_cpu(void *context)
{
	u32 key = 1, cpu;
	u64 *mine = bpf_map_lookup_elem(&per_cpu, &key), *of;

	HOLD(mine);
	*mine = 11;
	bpf_for(cpu, 0, scx_bpf_nr_cpu_ids()) {
		of = bpf_map_lookup_percpu_elem(&per_cpu, &key, cpu);
		HOLD(of && *of == (cpu == bpf_get_smp_processor_id() ? 11 : 0));
	}
	HOLD(!bpf_map_lookup_percpu_elem(&per_cpu, &key, scx_bpf_nr_cpu_ids()));
	return 0;
}

SEC("syscall") int test_queue(void *context)
{
	u32 value = 1, key = 2;
	void *inner;

	HOLD(bpf_map_pop_elem(&fifo, &value) == -ENOENT && value == 0);
	bpf_for(value, 1, 3) {
		HOLD(!bpf_map_push_elem(&fifo, &value, 0) && !bpf_map_push_elem(&stack, &value, 0));
	}
	HOLD((value = 3, bpf_map_push_elem(&fifo, &value, 0)) == -E2BIG);
	HOLD(!bpf_map_push_elem(&fifo, &value, BPF_EXIST));
	HOLD(!bpf_map_peek_elem(&fifo, &value) && value == 2);
	HOLD(!bpf_map_pop_elem(&fifo, &value) && value == 2);
	HOLD(!bpf_map_pop_elem(&stack, &value) && value == 2);
	HOLD(!bpf_map_pop_elem(&stack, &value) && value == 1);
	inner = bpf_map_lookup_elem(&of_maps, &key);
	HOLD(inner == &fifo && !bpf_map_pop_elem(inner, &value) && value == 3);
	key = 0;
	HOLD(!bpf_map_lookup_elem(&of_maps, &key));
	return 0;
}

SEC("syscall") int test_tasks(void *context)
{
	struct task_struct *p = bpf_task_from_pid(7), *q;
	struct kept *kept;
	int seen = 0;

	HOLD(p && p->pid == 7 && p->tgid == 7 && p->cpus_ptr == &p->cpus_mask && p->scx.weight == 100);
	HOLD(!bpf_task_from_pid(8) && !bpf_task_from_pid(-1) && !bpf_task_from_pid(1 << 30));
	HOLD(!bpf_task_storage_get(&storage, p, NULL, 0));
	kept = bpf_task_storage_get(&storage, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	HOLD(kept && !kept->count);
	kept->count = 9;
	HOLD(bpf_task_storage_get(&storage, p, NULL, 0) == kept);
	HOLD(!bpf_task_storage_delete(&storage, p) && bpf_task_storage_delete(&storage, p) == -ENOENT);
	bpf_for_each(task, q, NULL, BPF_TASK_ITER_ALL_THREADS)
		seen += q->pid;
	HOLD(seen == 7 + 9);
	bpf_task_release(p);
	HOLD(bpf_get_current_task_btf()->flags & PF_IDLE);
	return 0;
}

SEC("syscall") int test_cgroups(void *context)
{
	struct cgroup *root = bpf_cgroup_from_id(1), *leaf = bpf_cgroup_from_id(4), *at;
	struct task_struct *p = bpf_task_from_pid(9);
	struct cgroup_subsys_state *css;
	u64 order = 0, *stored;

	HOLD(root && leaf && root->level == 0 && leaf->level == 2 && !bpf_cgroup_from_id(5));
	bpf_for_each(css, css, &root->self, BPF_CGROUP_ITER_DESCENDANTS_PRE)
		order = order * 10 + css->cgroup->kn->id;
	HOLD(order == 1243);
	order = 0;
	bpf_for_each(css, css, &root->self, BPF_CGROUP_ITER_DESCENDANTS_POST)
		order = order * 10 + css->cgroup->kn->id;
	HOLD(order == 4231);
	order = 0;
	bpf_for_each(css, css, &leaf->self, BPF_CGROUP_ITER_ANCESTORS_UP)
		order = order * 10 + css->cgroup->kn->id;
	HOLD(order == 421);
	at = bpf_cgroup_ancestor(leaf, 1);
	HOLD(at && at->kn->id == 2 && !bpf_cgroup_ancestor(leaf, 3));
	HOLD(scx_bpf_task_cgroup(p) == leaf && bpf_task_under_cgroup(p, at));
	stored = bpf_cgrp_storage_get(&group_storage, leaf, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	HOLD(stored && bpf_cgrp_storage_get(&group_storage, leaf, NULL, 0) == stored);
	return 0;
}

SEC("syscall") int test_masks(void *context)
{
	struct bpf_cpumask *a = bpf_cpumask_create(), *b = bpf_cpumask_create();
	int *cpu, sum = 0;

	HOLD(a && b && bpf_cpumask_empty(cast_mask(a)) && bpf_cpumask_first(cast_mask(a)) == 70);
	bpf_cpumask_setall(a);
	HOLD(bpf_cpumask_full(cast_mask(a)) && bpf_cpumask_weight(cast_mask(a)) == 70);
	bpf_cpumask_set_cpu(69, b);
	bpf_cpumask_set_cpu(70, b);
	HOLD(bpf_cpumask_weight(cast_mask(b)) == 1 && bpf_cpumask_first(cast_mask(b)) == 69);
	HOLD(bpf_cpumask_subset(cast_mask(b), cast_mask(a)) && !bpf_cpumask_subset(cast_mask(a), cast_mask(b)));
	bpf_cpumask_clear_cpu(69, a);
	HOLD(!bpf_cpumask_intersects(cast_mask(a), cast_mask(b)) && bpf_cpumask_first_zero(cast_mask(a)) == 69);
	bpf_cpumask_or(a, cast_mask(a), cast_mask(b));
	HOLD(bpf_cpumask_full(cast_mask(a)) && bpf_cpumask_test_cpu(69, cast_mask(a)));
	HOLD(!bpf_cpumask_test_cpu(70, cast_mask(a)) && bpf_cpumask_and(a, cast_mask(a), cast_mask(b)));
	HOLD(bpf_cpumask_equal(cast_mask(a), cast_mask(b)) && bpf_cpumask_test_and_clear_cpu(69, a));
	bpf_cpumask_set_cpu(3, a);
	bpf_cpumask_set_cpu(64, a);
	bpf_for_each(bits, cpu, (const u64 *)cast_mask(a), SCX_MASK_CPUS / 64)
		sum += *cpu;
	HOLD(sum == 67);
	HOLD(bpf_cpumask_any_distribute(cast_mask(a)) == 3 && bpf_cpumask_any_distribute(cast_mask(a)) == 64);
	HOLD(bpf_cpumask_any_distribute(cast_mask(a)) == 3);
	bpf_cpumask_release(a);
	HOLD(bpf_cpumask_create() == a);
	return 0;
}

struct item { struct bpf_rb_node node; struct bpf_list_node link; u64 key, serial; };
private(TREE) struct bpf_rb_root root __contains(item, node);
private(TREE) struct bpf_list_head list __contains(item, link);

static bool less(struct bpf_rb_node *a, const struct bpf_rb_node *b)
{
	return container_of(a, struct item, node)->key < container_of(b, struct item, node)->key;
}

SEC("syscall") int test_tree(void *context)
{
	struct item *item, *held = NULL;
	struct bpf_rb_node *node;
	u64 last = 0, serial = 0;
	int i, count = 0;

	bpf_for(i, 0, 1000) {
		item = bpf_obj_new(struct item);
		HOLD(item);
		item->key = i * 7919 % 100;
		item->serial = i;
		HOLD(!bpf_rbtree_add(&root, &item->node, less));
		HOLD(bpf_rbtree_add(&root, &item->node, less) == -EINVAL);
		if (i == 500)
			held = bpf_refcount_acquire(item);
	}
	HOLD(bpf_rbtree_remove(&root, &held->node) && !bpf_rbtree_remove(&root, &held->node));
	while ((node = bpf_rbtree_first(&root)) && can_loop) {
		item = container_of(bpf_rbtree_remove(&root, node), struct item, node);
		/* Equal keys come out in the order in which they went in. */
		HOLD(item->key > last || (item->key == last && item->serial >= serial));
		last = item->key;
		serial = item->serial;
		bpf_obj_drop(item);
		count++;
	}
	HOLD(count == 999 && held->serial == 500);
	return 0;
}

SEC("syscall") int test_list(void *context)
{
	struct item *a = bpf_obj_new(struct item), *b = bpf_obj_new(struct item);

	HOLD(!bpf_list_pop_front(&list) && !bpf_list_push_back(&list, &a->link));
	HOLD(!bpf_list_push_front(&list, &b->link) && bpf_list_push_back(&list, &b->link) == -EINVAL);
	HOLD(bpf_list_front(&list) == &b->link && bpf_list_back(&list) == &a->link);
	HOLD(bpf_list_pop_back(&list) == &a->link && bpf_list_pop_back(&list) == &b->link);
	HOLD(!bpf_list_pop_back(&list));
	return 0;
}

SEC("syscall") int test_text(void *context)
{
	char text[64];

	HOLD(BPF_SNPRINTF(text, sizeof(text), "%d|%5u|%-3x|%05lld|%s|%c%%", -3, 42, 255, -7LL, "abc", 'z') == 26);
	HOLD(!bpf_strncmp(text, 25, "-3|   42|ff |-0007|abc|z%"));
	HOLD(bpf_probe_read_kernel_str(text, 3, "abcdef") == 3 && text[1] == 'b' && !text[2]);
	HOLD(sizeof(long) == 8 && sizeof(void *) == 8 && bpf_ktime_get_ns() == 1ULL << 40);
	return 0;
}

static u64 fired;

static int on_time(void *map, int key, struct kept *kept)
{
	fired += 1 + (map == &array) + (kept->count == 70);
	return 0;
}

SEC("syscall") int test_timer(void *context)
{
	struct kept *kept;
	u32 key = 1;

	kept = bpf_map_lookup_elem(&array, &key);
	HOLD(kept);
	kept->count = 70;
	HOLD(bpf_timer_start(&kept->timer, 1, 0) == -EINVAL);
	HOLD(!bpf_timer_init(&kept->timer, &array, CLOCK_MONOTONIC));
	HOLD(bpf_timer_init(&kept->timer, &array, CLOCK_MONOTONIC) == -EBUSY);
	HOLD(!bpf_timer_set_callback(&kept->timer, on_time));
	HOLD(!bpf_timer_start(&kept->timer, 1000, 0));
	return 0;
}

SEC("syscall") int test_timer_fired(void *context)
{
	HOLD(fired == 3);
	return 0;
}

static long count_to(u32 i, u32 *last)
{
	*last = i;
	return i == 4;
}

SEC("syscall") int test_loops(void *context)
{
	u32 last = 0, i, sum = 0;

	HOLD(bpf_loop(10, count_to, &last, 0) == 5 && last == 4);
	HOLD(bpf_loop(3, count_to, &last, 0) == 3);
	bpf_for(i, 2, 5)
		sum += i;
	HOLD(sum == 9);
	bpf_repeat(3)
		sum++;
	HOLD(sum == 12 && log2_u32(1) == 0 && log2_u64(1ULL << 40) == 41 && __sqrt_u64(99) == 9);
	HOLD(time_before(~0ULL, 1) && time_delta(1, 3) == 0);
	return 0;
}

volatile u64 zero, large = 1ULL << 63;
volatile s32 minus = -1, least = -2147483647 - 1;

SEC("syscall") int test_division(void *context)
{
	/* Kept apart from what compares them: the compiler makes other code of `a / b == 0`. */
	volatile u64 quotient = (zero + 7) / zero, rest = (zero + 7) % zero, third = (zero + 7) / 3;
	volatile s32 few = (minus - 4) / (s32)zero, left = (minus - 4) % (s32)zero, two = (minus - 4) / (minus - 1);
	volatile s32 wrapped = least / minus, nothing = least % minus;
	volatile s64 wide = (s64)large / minus;

	HOLD(quotient == 0 && rest == 7 && third == 2);
	HOLD(few == 0 && left == -5 && two == 2);
	HOLD(wrapped == least && nothing == 0 && wide == (s64)large);
	return 0;
}

s32 BPF_STRUCT_OPS(tested_init)
{
	return scx_bpf_create_dsq(cpu_llc_id(0), -1);
}

SCX_OPS_DEFINE(tested_ops, .init = (void *)tested_init, .name = "tested");
char _license[] SEC("license") = "GPL";
