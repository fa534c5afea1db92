/* SPDX-License-Identifier: MIT */
/* place_json.c - what came of it, for programs: stable keys, null for unknown */
#include <jansson.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/place.h"

static json_t *count(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *state(const struct place_state *state)
{
	json_t *object = json_object(), *nodes = json_array();

	json_object_set_new(object, "mappings", count(state->mappings));
	json_object_set_new(object, "bytes", count(state->bytes));
	json_object_set_new(object, "resident_bytes",
			    state->unknown ? json_null() : count(state->resident));
	json_object_set_new(object, "huge_bytes",
			    state->unknown ? json_null() : count(state->huge));
	json_object_set_new(object, "huge_page_bytes",
			    state->shift ? count(1ULL << state->shift) : json_null());
	for (uint32_t n = 0; n < state->nodes; n++) {
		json_t *node = json_object();

		json_object_set_new(node, "node", count(state->node[n]));
		json_object_set_new(node, "bytes",
				    state->nodes_known ? count(state->node_bytes[n]) : json_null());
		json_array_append_new(nodes, node);
	}
	json_object_set_new(object, "nodes", nodes);
	json_object_set_new(object, "nodes_sampled", json_boolean(state->sampled));
	return object;
}

static json_t *obstacle(enum place_obstacle obstacle)
{
	return obstacle == PLACE_CLEAR ? json_null() : json_string(place_obstacle_name(obstacle));
}

static json_t *result(const struct place_result *result)
{
	json_t *object = json_object(), *refused = json_object();

	json_object_set_new(object, "blocks", count(result->blocks));
	json_object_set_new(object, "collapse_wanted_blocks", count(result->collapse_wanted));
	json_object_set_new(object, "collapsed_blocks", count(result->collapsed));
	json_object_set_new(object, "move_wanted_blocks", count(result->move_wanted));
	json_object_set_new(object, "moved_blocks", count(result->moved));
	for (int r = 0; r < PLACE_REFUSALS; r++)
		json_object_set_new(refused, place_refusal_name(r), count(result->refused[r]));
	json_object_set_new(object, "refused_blocks", refused);
	json_object_set_new(object, "collapse_obstacle", obstacle(result->collapse_obstacle));
	json_object_set_new(object, "spread_obstacle", obstacle(result->spread_obstacle));
	json_object_set_new(object, "steps", count(result->steps));
	json_object_set_new(object, "slow_steps", count(result->slow_steps));
	json_object_set_new(object, "longest_step_us", count(result->longest_us));
	json_object_set_new(object, "busy_us", count(result->busy_us));
	json_object_set_new(object, "wall_us", count(result->wall_us));
	json_object_set_new(object, "through_target", json_boolean(result->through_target));
	json_object_set_new(object, "stopped", json_boolean(result->stopped));
	json_object_set_new(object, "gone", json_boolean(result->gone));
	json_object_set_new(object, "kept_advice", json_boolean(result->kept_advice));
	json_object_set_new(object, "kept_policy", json_boolean(result->kept_policy));
	json_object_set_new(object, "keep_errno", count((uint64_t)-result->keep_error));
	json_object_set_new(object, "keep_stop_us", count(result->keep_stop_us));
	return object;
}

int place_print_json(const struct place_tale *tale)
{
	json_t *root = json_object();

	json_object_set_new(root, "pid", json_integer(tale->process->pid));
	json_object_set_new(root, "comm", json_string(tale->process->comm));
	json_object_set_new(root, "dry_run", json_boolean(tale->job->place.place.dry_run));
	json_object_set_new(root, "undo", json_boolean(tale->job->undo));
	json_object_set_new(root, "before", state(tale->before));
	json_object_set_new(root, "after", tale->after ? state(tale->after) : json_null());
	json_object_set_new(root, "result", result(tale->result));
	json_object_set_new(root, "undo_possible", json_boolean(!tale->record_error));
	if (!cli_json_dump(root, JSON_COMPACT | JSON_PRESERVE_ORDER)) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	putchar('\n');
	return CLI_OK;
}
