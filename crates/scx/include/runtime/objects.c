/*
 * Lists and trees of objects. A tree is a search tree that is also a heap by priorities from a fixed sequence (a
 * treap): its depth is logarithmic on average, and equal keys keep the order in which they came.
 */

/* What the words of a node hold; the last word says to which list or tree it belongs. */
struct scx_node { struct scx_node *left, *right, *parent; u32 priority, linked; };
struct scx_link { struct scx_link *next, *prev; u64 linked; };
struct scx_list { struct scx_link *first, *last; };
_Static_assert(sizeof(struct scx_node) == sizeof(struct bpf_rb_node), "a node of a tree");
_Static_assert(sizeof(struct scx_link) == sizeof(struct bpf_list_node), "a node of a list");

static u32 next_priority(void)
{
	static u32 state = 0x2545f491;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

static struct scx_node **place_of(struct scx_node **root, struct scx_node *node)
{
	if (!node->parent)
		return root;
	return node->parent->left == node ? &node->parent->left : &node->parent->right;
}

/* Moves a node above its parent. */
static void rotate_up(struct scx_node **root, struct scx_node *node)
{
	struct scx_node *parent = node->parent, **place = place_of(root, parent), *moved;

	if (parent->left == node) {
		moved = node->right;
		parent->left = moved;
		node->right = parent;
	} else {
		moved = node->left;
		parent->right = moved;
		node->left = parent;
	}
	if (moved)
		moved->parent = parent;
	node->parent = parent->parent;
	parent->parent = node;
	*place = node;
}

int bpf_rbtree_add_impl(struct bpf_rb_root *tree, struct bpf_rb_node *added,
			bool (*less)(struct bpf_rb_node *a, const struct bpf_rb_node *b), void *meta, u64 offset)
{
	struct scx_node **root = (void *)tree, **at = root, *node = (void *)added, *parent = NULL;

	if (node->linked)
		return -EINVAL;
	while (*at) {
		parent = *at;
		at = less(added, (void *)parent) ? &parent->left : &parent->right;
	}
	*node = (struct scx_node){ .parent = parent, .priority = next_priority(), .linked = 1 };
	*at = node;
	while (node->parent && node->priority < node->parent->priority)
		rotate_up(root, node);
	return 0;
}

struct bpf_rb_node *bpf_rbtree_remove(struct bpf_rb_root *tree, struct bpf_rb_node *removed)
{
	struct scx_node **root = (void *)tree, *node = (void *)removed, *child;

	if (!node || !node->linked)
		return NULL;
	while (node->left && node->right)
		rotate_up(root, node->left->priority < node->right->priority ? node->left : node->right);
	child = node->left ?: node->right;
	*place_of(root, node) = child;
	if (child)
		child->parent = node->parent;
	*node = (struct scx_node){ 0 };
	return removed;
}

struct bpf_rb_node *bpf_rbtree_first(struct bpf_rb_root *tree)
{
	struct scx_node *node = *(struct scx_node **)tree;

	while (node && node->left)
		node = node->left;
	return (void *)node;
}

struct bpf_rb_node *bpf_rbtree_root(struct bpf_rb_root *tree)
{
	return *(struct bpf_rb_node **)tree;
}

struct bpf_rb_node *bpf_rbtree_left(struct bpf_rb_root *tree, struct bpf_rb_node *node)
{
	return (void *)((struct scx_node *)node)->left;
}

struct bpf_rb_node *bpf_rbtree_right(struct bpf_rb_root *tree, struct bpf_rb_node *node)
{
	return (void *)((struct scx_node *)node)->right;
}

static int list_add(struct bpf_list_head *head, struct bpf_list_node *node, bool front)
{
	struct scx_list *list = (void *)head;
	struct scx_link *link = (void *)node;

	if (link->linked)
		return -EINVAL;
	*link = (struct scx_link){
		.next = front ? list->first : NULL, .prev = front ? NULL : list->last, .linked = 1,
	};
	*(link->prev ? &link->prev->next : &list->first) = link;
	*(link->next ? &link->next->prev : &list->last) = link;
	return 0;
}

static struct bpf_list_node *list_take(struct scx_list *list, struct scx_link *link)
{
	if (!link)
		return NULL;
	*(link->prev ? &link->prev->next : &list->first) = link->next;
	*(link->next ? &link->next->prev : &list->last) = link->prev;
	*link = (struct scx_link){ 0 };
	return (void *)link;
}

int bpf_list_push_front_impl(struct bpf_list_head *head, struct bpf_list_node *node, void *meta, u64 offset)
{
	return list_add(head, node, true);
}

int bpf_list_push_back_impl(struct bpf_list_head *head, struct bpf_list_node *node, void *meta, u64 offset)
{
	return list_add(head, node, false);
}

struct bpf_list_node *bpf_list_pop_front(struct bpf_list_head *head)
{
	struct scx_list *list = (void *)head;

	return list_take(list, list->first);
}

struct bpf_list_node *bpf_list_pop_back(struct bpf_list_head *head)
{
	struct scx_list *list = (void *)head;

	return list_take(list, list->last);
}

struct bpf_list_node *bpf_list_front(struct bpf_list_head *head)
{
	return (void *)((struct scx_list *)head)->first;
}

struct bpf_list_node *bpf_list_back(struct bpf_list_head *head)
{
	return (void *)((struct scx_list *)head)->last;
}
