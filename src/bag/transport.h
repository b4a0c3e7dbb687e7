/* transport.h - the transport problem, exactly: how to move supplies to demands at the least cost.
 *
 *     minimise  sum of cost(i, j) * flow(i, j)
 *     so that   row i sends its supply, column j receives its demand, and flow(i, j) >= 0.
 *
 * All numbers are integers. Each result comes with its proof: prices u(i) and v(j) with
 *     u(i) + v(j) <= cost(i, j) for all pairs, and
 *     sum of supply(i) * u(i) + sum of demand(j) * v(j) = the cost of the flow.
 * For any prices that obey the first line, the sum in the second is a lower bound on the cost of
 * every flow (weak duality: multiply the first line by flow(i, j) and add up). So a flow whose cost
 * is that sum is the cheapest, whoever found it. transport_solve checks both lines before it
 * returns. */
#ifndef BAG_TRANSPORT_H
#define BAG_TRANSPORT_H

#include "tem.h"

__extension__ typedef unsigned __int128 transport_cost;

/* Rows and columns together. Prices then stay below 2^53. */
#define TRANSPORT_NODES_MAX (UINT32_C(1) << 20)

typedef struct transport_problem {
    uint32_t rows, columns;  /* 1 or more each */
    const uint32_t *costs;   /* rows * columns, row by row */
    const int64_t *supplies; /* of each row, above 0; their sum is below 2^62 */
    const int64_t *demands;  /* of each column, above 0, with the same sum */
} transport_problem;

/* The flow from a row to a column. */
typedef struct transport_move {
    uint32_t row, column;
    int64_t flow; /* above 0 */
} transport_move;

typedef struct transport_plan {
    transport_move *moves; /* at most rows + columns - 1, in no particular order */
    uint32_t count;
    int64_t *prices;     /* u of each row, then v of each column */
    transport_cost cost; /* below 2^94 */
} transport_plan;

/* Finds the cheapest plan. Reports progress as the stage "matching". Fails with TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED, TEM_ERR_RANGE (more than TRANSPORT_NODES_MAX), or TEM_ERR_DAMAGED if the proof
 * does not hold, which only a fault of the machine or of tem can cause. Free the plan with
 * transport_plan_free. Cost: 4 bytes per pair belong to the caller; 2,000 rows and columns take
 * about a second. */
tem_status transport_solve(const transport_problem *problem, const tem_run *run,
                           transport_plan *plan, tem_error *error);
void transport_plan_free(transport_plan *plan);

/* Checks that the plan moves all supplies to the demands at its cost, and that its prices prove
 * that no plan is cheaper. TEM_ERR_DAMAGED if not; TEM_ERR_MEMORY. */
tem_status transport_prove(const transport_problem *problem, const transport_plan *plan,
                           tem_error *error);

#endif
