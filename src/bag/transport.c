/* transport.c - the transport problem by the network simplex method.
 *
 * The rows and columns are the nodes of a graph, with one more node, the root. A basis is a
 * spanning tree of it. Each node but the root has an arc to its parent: between a row and a column
 * the arc of that pair, otherwise an arc to or from the root, which is there only to begin with.
 * Flow goes from rows to columns, from rows to the root and from the root to columns. Only arcs of
 * the tree have flow.
 *
 * Prices make the reduced cost of each arc of the tree 0. A pivot takes a pair with a negative
 * reduced cost into the tree, pushes as much flow as possible around the cycle that it closes, and
 * takes an arc out whose flow became 0. When no pair has a negative reduced cost, the plan is
 * the cheapest.
 *
 * The arcs at the root cost more than any pair. If a cheapest plan sent flow from row i through the
 * root, it would also send flow from the root to some column j, and the pair (i, j) would be
 * cheaper than the two. So no flow is left at the root in the end.
 *
 * A pivot may push a flow of 0. So that the method cannot go in a circle, the tree stays strongly
 * feasible (Cunningham 1976): an arc of the tree without flow points towards the root. Of several
 * arcs that could leave, the right one is the last around the cycle, seen from its top in the
 * direction of the new flow. */
#include "bag/transport.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

__extension__ typedef __int128 int128;

#define NO_NODE UINT32_MAX

/* One node of the tree. */
typedef struct node {
    uint32_t parent;
    uint32_t first_child, next, previous; /* children of one parent are a list */
    uint32_t depth;                       /* 0 for the root */
    int64_t flow;                         /* on the arc to the parent */
} node;

typedef struct tree {
    const transport_problem *problem;
    node *nodes; /* rows, columns, root */
    /* Of each node; 0 for the root. The reduced cost of an arc from p to q is its cost + price(p) -
     * price(q). They are apart from the nodes because the search for a pair reads them all. */
    int64_t *prices;
    uint32_t root;
    int64_t root_cost; /* of each arc at the root */
    uint32_t next_row; /* where the search for the next pair begins */
} tree;

static bool is_row(const tree *t, uint32_t n) {
    return n < t->problem->rows;
}

/* Whether the arc between a node and its parent points to the parent: flow leaves rows and enters
 * columns. */
static bool points_up(const tree *t, uint32_t n) {
    return is_row(t, n);
}

static int64_t arc_cost(const tree *t, uint32_t a, uint32_t b) {
    if (a == t->root || b == t->root)
        return t->root_cost;
    const uint32_t row = is_row(t, a) ? a : b, column = (is_row(t, a) ? b : a) - t->problem->rows;
    return t->problem->costs[(size_t)row * t->problem->columns + column];
}

/* ---- the tree ---- */

static void attach(tree *t, uint32_t n, uint32_t parent) {
    node *child = &t->nodes[n], *above = &t->nodes[parent];
    child->parent = parent;
    child->previous = NO_NODE;
    child->next = above->first_child;
    if (child->next != NO_NODE)
        t->nodes[child->next].previous = n;
    above->first_child = n;
}

static void detach(tree *t, uint32_t n) {
    const node *child = &t->nodes[n];
    if (child->previous != NO_NODE)
        t->nodes[child->previous].next = child->next;
    else
        t->nodes[child->parent].first_child = child->next;
    if (child->next != NO_NODE)
        t->nodes[child->next].previous = child->previous;
}

/* Sets depth and price of a node from those of its parent. */
static void set_from_parent(tree *t, uint32_t n) {
    node *child = &t->nodes[n];
    const node *above = &t->nodes[child->parent];
    const int64_t cost = arc_cost(t, n, child->parent);
    child->depth = above->depth + 1;
    t->prices[n] = t->prices[child->parent] + (points_up(t, n) ? -cost : cost);
}

/* Does that for a node and everything below it. */
static void set_below(tree *t, uint32_t top) {
    uint32_t n = top;
    for (;;) {
        set_from_parent(t, n);
        if (t->nodes[n].first_child != NO_NODE) {
            n = t->nodes[n].first_child;
            continue;
        }
        while (n != top && t->nodes[n].next == NO_NODE)
            n = t->nodes[n].parent;
        if (n == top)
            return;
        n = t->nodes[n].next;
    }
}

static void hang_all_on_root(tree *t) {
    const transport_problem *p = t->problem;
    t->nodes[t->root] = (node){.parent = NO_NODE, .first_child = NO_NODE};
    t->prices[t->root] = 0;
    for (uint32_t n = t->root; n-- > 0;) {
        t->nodes[n] = (node){.first_child = NO_NODE,
                             .flow = is_row(t, n) ? p->supplies[n] : p->demands[n - p->rows]};
        attach(t, n, t->root);
        set_from_parent(t, n);
    }
}

static int64_t largest_cost(const transport_problem *p) {
    uint32_t largest = 0;
    for (size_t i = 0; i < (size_t)p->rows * p->columns; i++)
        largest = p->costs[i] > largest ? p->costs[i] : largest;
    return largest;
}

/* ---- a pivot ---- */

/* Looks for a pair with a negative reduced cost, the most negative of some rows. The search goes on
 * where the last one ended. Returns false if there is none. */
static bool find_pair(tree *t, uint32_t *row, uint32_t *column) {
    enum { LOOKED_AT = 4096 }; /* pairs, before the best of them is taken */
    const transport_problem *p = t->problem;
    const int64_t *prices = t->prices + p->rows;
    int64_t least = 0;
    uint32_t looked_at = 0;
    for (uint32_t i = 0; i < p->rows; i++) {
        const uint32_t r = t->next_row;
        const uint32_t *costs = p->costs + (size_t)r * p->columns;
        const int64_t price = t->prices[r];
        for (uint32_t c = 0; c < p->columns; c++) {
            const int64_t reduced = costs[c] + price - prices[c];
            if (reduced < least) {
                least = reduced;
                *row = r;
                *column = p->rows + c;
            }
        }
        t->next_row = r + 1 == p->rows ? 0 : r + 1;
        looked_at += p->columns;
        if (least < 0 && looked_at >= LOOKED_AT)
            return true;
    }
    return least < 0;
}

/* The node at the top of the cycle through a and b. */
static uint32_t find_top(const tree *t, uint32_t a, uint32_t b) {
    while (a != b) {
        if (t->nodes[a].depth >= t->nodes[b].depth)
            a = t->nodes[a].parent;
        else
            b = t->nodes[b].parent;
    }
    return a;
}

/* Finds the arc that leaves: below this node. The new flow goes down from the top to the row, over
 * the new arc, and up from the column. It lowers the flow of arcs that point the other way. Of the
 * arcs with the least flow, takes the last one in that direction: on the way to the row the one
 * nearest to the row, unless there is one on the way from the column; there the one nearest to the
 * top. */
static uint32_t find_leaving(const tree *t, uint32_t row, uint32_t column, uint32_t top) {
    uint32_t leaving = NO_NODE;
    int64_t least = INT64_MAX;
    for (uint32_t n = row; n != top; n = t->nodes[n].parent)
        if (points_up(t, n) && t->nodes[n].flow < least) {
            least = t->nodes[n].flow;
            leaving = n;
        }
    for (uint32_t n = column; n != top; n = t->nodes[n].parent)
        if (!points_up(t, n) && t->nodes[n].flow <= least) {
            least = t->nodes[n].flow;
            leaving = n;
        }
    return leaving;
}

/* Pushes flow around the cycle. */
static void push(tree *t, uint32_t row, uint32_t column, uint32_t top, int64_t flow) {
    for (uint32_t n = row; n != top; n = t->nodes[n].parent)
        t->nodes[n].flow += points_up(t, n) ? -flow : flow;
    for (uint32_t n = column; n != top; n = t->nodes[n].parent)
        t->nodes[n].flow += points_up(t, n) ? flow : -flow;
}

static bool is_below(const tree *t, uint32_t n, uint32_t above) {
    while (n != above && t->nodes[n].depth > t->nodes[above].depth)
        n = t->nodes[n].parent;
    return n == above;
}

/* Cuts off the subtree of `cut`, turns it so that `inner`, a node of it, is its top, and hangs it
 * on `outer` by an arc with this flow. */
static void rehang(tree *t, uint32_t cut, uint32_t inner, uint32_t outer, int64_t flow) {
    uint32_t n = inner, parent = outer;
    for (bool last = false; !last;) {
        const uint32_t old_parent = t->nodes[n].parent;
        const int64_t old_flow = t->nodes[n].flow;
        last = n == cut;
        detach(t, n);
        attach(t, n, parent);
        t->nodes[n].flow = flow;
        flow = old_flow;
        parent = n;
        n = old_parent;
    }
    set_below(t, inner);
}

static void pivot(tree *t, uint32_t row, uint32_t column) {
    const uint32_t top = find_top(t, row, column);
    const uint32_t leaving = find_leaving(t, row, column, top);
    const int64_t flow = t->nodes[leaving].flow;
    push(t, row, column, top, flow);
    if (is_below(t, row, leaving))
        rehang(t, leaving, row, column, flow);
    else
        rehang(t, leaving, column, row, flow);
}

/* ---- the plan and its proof ---- */

static tem_status take_plan(const tree *t, transport_plan *plan, tem_error *error) {
    const transport_problem *p = t->problem;
    transport_plan made = {.moves = core_alloc(t->root, sizeof *made.moves),
                           .prices = core_alloc(t->root, sizeof *made.prices)};
    *plan = made;
    if (made.moves == NULL || made.prices == NULL)
        return core_fail_memory(error);
    for (uint32_t n = 0; n < t->root; n++) {
        const node *at = &t->nodes[n];
        plan->prices[n] = is_row(t, n) ? -t->prices[n] : t->prices[n];
        if (at->flow == 0 || at->parent == t->root)
            continue;
        const uint32_t row = is_row(t, n) ? n : at->parent, column = is_row(t, n) ? at->parent : n;
        plan->moves[plan->count++] = (transport_move){row, column - p->rows, at->flow};
        plan->cost += (transport_cost)(uint64_t)at->flow * (uint64_t)arc_cost(t, n, at->parent);
    }
    return TEM_OK;
}

/* Whether u(i) + v(j) <= cost(i, j) for all pairs. */
static bool prices_are_low(const transport_problem *p, const int64_t *prices) {
    for (uint32_t r = 0; r < p->rows; r++)
        for (uint32_t c = 0; c < p->columns; c++)
            if (prices[r] + prices[p->rows + c] > p->costs[(size_t)r * p->columns + c])
                return false;
    return true;
}

static int128 value_of_prices(const transport_problem *p, const int64_t *prices) {
    int128 sum = 0;
    for (uint32_t r = 0; r < p->rows; r++)
        sum += (int128)p->supplies[r] * prices[r];
    for (uint32_t c = 0; c < p->columns; c++)
        sum += (int128)p->demands[c] * prices[p->rows + c];
    return sum;
}

/* Whether the moves take exactly the supplies and fill exactly the demands, at the plan's cost.
 * left: room for a number per row and column. */
static bool moves_are_complete(const transport_problem *p, const transport_plan *plan,
                               int64_t *left) {
    transport_cost cost = 0;
    for (uint32_t r = 0; r < p->rows; r++)
        left[r] = p->supplies[r];
    for (uint32_t c = 0; c < p->columns; c++)
        left[p->rows + c] = p->demands[c];
    for (uint32_t i = 0; i < plan->count; i++) {
        const transport_move *m = &plan->moves[i];
        if (m->flow <= 0)
            return false;
        left[m->row] -= m->flow;
        left[p->rows + m->column] -= m->flow;
        cost +=
            (transport_cost)(uint64_t)m->flow * p->costs[(size_t)m->row * p->columns + m->column];
    }
    for (uint32_t n = 0; n < p->rows + p->columns; n++)
        if (left[n] != 0)
            return false;
    return cost == plan->cost;
}

tem_status transport_prove(const transport_problem *problem, const transport_plan *plan,
                           tem_error *error) {
    int64_t *left = core_alloc((size_t)problem->rows + problem->columns, sizeof *left);
    if (left == NULL)
        return core_fail_memory(error);
    const bool proved = moves_are_complete(problem, plan, left) &&
                        prices_are_low(problem, plan->prices) &&
                        value_of_prices(problem, plan->prices) == (int128)plan->cost;
    core_free(left);
    return proved ? TEM_OK
                  : core_fail(error, TEM_ERR_DAMAGED, "the proof of the least cost does not hold");
}

void transport_plan_free(transport_plan *plan) {
    core_free(plan->prices);
    core_free(plan->moves);
    *plan = (transport_plan){.moves = NULL};
}

/* ---- the call ---- */

static tem_status improve(tree *t, const tem_run *run, tem_error *error) {
    enum { ASK = 1024 }; /* pivots between two questions, some ms */
    uint32_t row = 0, column = 0;
    tem_status status = core_progress(run, "matching", 0, 0, error);
    hang_all_on_root(t);
    for (uint64_t pivots = 0; status == TEM_OK && find_pair(t, &row, &column); pivots++) {
        pivot(t, row, column);
        if (pivots % ASK == ASK - 1)
            status = core_progress(run, "matching", 0, 0, error);
    }
    return status;
}

tem_status transport_solve(const transport_problem *problem, const tem_run *run,
                           transport_plan *plan, tem_error *error) {
    if (problem->columns > TRANSPORT_NODES_MAX ||
        problem->rows > TRANSPORT_NODES_MAX - problem->columns)
        return core_fail(error, TEM_ERR_RANGE, "too many different words to match: at most %u",
                         TRANSPORT_NODES_MAX);
    tree t = {.problem = problem,
              .root = problem->rows + problem->columns,
              .root_cost = largest_cost(problem) + 1};
    t.nodes = core_alloc((size_t)t.root + 1, sizeof *t.nodes);
    t.prices = core_alloc((size_t)t.root + 1, sizeof *t.prices);
    transport_plan made = {.moves = NULL};
    tem_status status = TEM_OK;
    if (t.nodes == NULL || t.prices == NULL)
        status = core_fail_memory(error);
    if (status == TEM_OK)
        status = improve(&t, run, error);
    if (status == TEM_OK)
        status = take_plan(&t, &made, error);
    core_free(t.prices);
    core_free(t.nodes);
    if (status == TEM_OK)
        status = transport_prove(problem, &made, error);
    if (status == TEM_OK)
        *plan = made;
    else
        transport_plan_free(&made);
    return status;
}
