/* SPDX-License-Identifier: MIT */
/*
 * options_parse.c - the options as the library reads them
 *
 * Runs before main(), perhaps inside the program's first malloc(): string
 * functions only.
 */
#include <string.h>

#include "backend/linux/sys.h"
#include "preload/options.h"

static bool take_nodes(const char *text, struct hdl_mask *nodes)
{
	char list[PRELOAD_TEXT_MAX];
	size_t len = strcspn(text, ";");

	if (len >= sizeof(list))
		return false;
	memcpy(list, text, len);
	list[len] = '\0';
	return hdl_mask_parse(nodes, list);
}

static bool take_path(const char *text, struct preload_options *out)
{
	size_t len = strlen(text);

	out->explain = len < sizeof(out->explain_path);
	if (out->explain)
		memcpy(out->explain_path, text, len + 1);
	return out->explain;
}

static bool take_number(const char *text, const char *key, uint64_t *value)
{
	size_t len = strlen(key);
	const char *at = text + len;

	return !strncmp(text, key, len) && hdl_number(&at, value) && (*at == ';' || !*at);
}

static bool is_word(const char *text, const char *word)
{
	size_t len = strcspn(text, ";");

	return strlen(word) == len && !strncmp(text, word, len);
}

static bool take(const char *text, struct preload_options *out)
{
	if (take_number(text, "pid=", &out->pid) || take_number(text, "min=", &out->min_bytes) ||
	    take_number(text, "most=", &out->most_bytes) ||
	    take_number(text, "scan=", &out->scan_ms) ||
	    take_number(text, "huge=", &out->huge_shift))
		return true;
	if (!strncmp(text, "nodes=", 6))
		return take_nodes(text + 6, &out->nodes);
	out->weighted |= is_word(text, "weighted");
	out->children |= is_word(text, "children");
	if (is_word(text, "no-hooks"))
		out->hooks = false;
	return true;
}

bool preload_options_parse(const char *text, struct preload_options *out)
{
	memset(out, 0, sizeof(*out));
	out->hooks = true;
	while (*text) {
		if (!strncmp(text, "explain=", 8)) {
			if (!take_path(text + 8, out))
				return false;
			break;
		}
		if (!take(text, out))
			return false;
		text += strcspn(text, ";");
		text += *text == ';';
	}
	return out->pid && out->min_bytes && out->huge_shift < 48;
}
