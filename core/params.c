/* SPDX-License-Identifier: MIT */
/*
 * params.c - the boot parameters that matter to large hash tables
 *
 * Reads a command line as kernels do: words at blanks, double quotes around a
 * value or a whole word, '-' and '_' alike in names, "--" ends the kernel's
 * part, the last of several wins. How a value is read depends on the kernel:
 *
 *   hashdist     to 6.19 a number's prefix (garbage is 0), from 7.0 a boolean word
 *   d/i/m/mphash to 6.19 a number's prefix, from 7.0 a whole number
 *   t/uhash      to 3.9 a prefix, then a whole number
 *
 * A word that is nearly one of ours is remembered as misspelt: kernels say
 * nothing about it, or only that they passed it on to init.
 *
 * Source: next_arg(), obsolete_checksetup(), set_hashdist(), set_dhash_entries(),
 * set_thash_entries(), set_uhash_entries(), kstrtobool(), Linux 2.6.11 to 7.1.
 */
#include "core/text.h"
#include "hashdist/core.h"

static const char *const names[HD_PARAM_COUNT] = {
	[HD_PARAM_HASHDIST] = "hashdist",
	[HD_PARAM_DHASH_ENTRIES] = "dhash_entries",
	[HD_PARAM_IHASH_ENTRIES] = "ihash_entries",
	[HD_PARAM_MHASH_ENTRIES] = "mhash_entries",
	[HD_PARAM_MPHASH_ENTRIES] = "mphash_entries",
	[HD_PARAM_THASH_ENTRIES] = "thash_entries",
	[HD_PARAM_UHASH_ENTRIES] = "uhash_entries",
	[HD_PARAM_RHASH_ENTRIES] = "rhash_entries",
};

const char *hd_param_name(enum hd_param param)
{
	return param < HD_PARAM_COUNT ? names[param] : NULL;
}

struct word {
	const char *name, *value; /* value NULL: no '=' */
	size_t name_len, value_len;
	size_t at, len; /* in the command line */
};

static bool blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool next_word(const char *text, size_t len, size_t *at, struct word *word)
{
	bool quoted = false, opened;
	size_t start, end, equals = 0;

	while (*at < len && blank(text[*at]))
		(*at)++;
	if (*at >= len || !text[*at])
		return false;
	start = *at;
	word->at = start;
	opened = text[start] == '"';
	if (opened) {
		quoted = true;
		start++;
	}
	for (end = start; end < len && text[end] && (quoted || !blank(text[end])); end++) {
		if (text[end] > '=') /* a letter, like most */
			continue;
		if (text[end] == '=' && !equals)
			equals = end;
		if (text[end] == '"')
			quoted = !quoted;
	}
	*at = end;
	word->len = end - word->at;
	word->name = text + start;
	word->value = equals ? text + equals + 1 : NULL;
	word->name_len = (equals ? equals : end) - start;
	word->value_len = equals ? end - equals - 1 : 0;
	if (word->value_len && word->value[0] == '"') {
		opened = true;
		word->value++;
		word->value_len--;
	}
	if (!opened) /* then a quote at the end stays */
		return true;
	if (equals && word->value_len && word->value[word->value_len - 1] == '"')
		word->value_len--;
	else if (!equals && word->name_len && word->name[word->name_len - 1] == '"')
		word->name_len--;
	return true;
}

static char folded(char c)
{
	return c == '-' ? '_' : c;
}

static bool is_name(const struct word *word, const char *name)
{
	size_t i;

	for (i = 0; i < word->name_len && name[i]; i++)
		if (folded(word->name[i]) != name[i])
			return false;
	return i == word->name_len && !name[i];
}

/** Edit distance of two short words; anything above 2 is as good as 3. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	uint8_t row[24];

	if (a_len >= sizeof(row) || b_len >= sizeof(row) || a_len > b_len + 2 || b_len > a_len + 2)
		return UINT8_MAX;
	for (size_t j = 0; j <= b_len; j++)
		row[j] = (uint8_t)j;
	for (size_t i = 1; i <= a_len; i++) {
		uint8_t diagonal = row[0];

		row[0] = (uint8_t)i;
		for (size_t j = 1; j <= b_len; j++) {
			uint8_t cost = diagonal + (text_lower(folded(a[i - 1])) != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < cost)
				cost = row[j] + 1;
			if (row[j - 1] + 1 < cost)
				cost = row[j - 1] + 1;
			row[j] = cost;
		}
	}
	return row[b_len];
}

/** Every name has "hash" in it; a misspelt one still has two of its letters side by side. */
static bool resembles(const struct word *word)
{
	if (word->name_len < 6 || word->name_len > 16)
		return false;
	for (size_t i = 0; i + 1 < word->name_len; i++) {
		char a = text_lower(word->name[i]), b = text_lower(word->name[i + 1]);

		if ((a == 'h' && b == 'a') || (a == 'a' && b == 's') || (a == 's' && b == 'h'))
			return true;
	}
	return false;
}

/** @word resembles them. */
static void note_misspelt(struct hd_params *params, const struct word *word)
{
	/* "dhash_entry" is three letters off; short names would then resemble each other. */
	unsigned best = word->name_len > 10 ? 4 : 3;
	int nearest = HD_PARAM_NONE;

	for (int p = 0; p < HD_PARAM_COUNT; p++) {
		unsigned d = distance(word->name, word->name_len, names[p], text_len(names[p]));

		if (d < best) { /* 0: differs in case only */
			best = d;
			nearest = p;
		}
	}
	if (nearest == HD_PARAM_NONE || params->param[nearest].state != HD_PARAM_ABSENT)
		return;
	params->param[nearest].state = HD_PARAM_MISSPELT;
	params->param[nearest].at = (uint32_t)word->at;
	params->param[nearest].len = (uint32_t)word->len;
}

/** A boolean word, by its first one or two letters. Return: 0, 1, -1 neither. */
static int boolean_word(const char *value, size_t len)
{
	char c = len ? text_lower(value[0]) : '\0';

	if (c == 'o' && len > 1) {
		char second = text_lower(value[1]);

		return second == 'n' ? 1 : second == 'f' ? 0 : -1;
	}
	if (c == '1' || c == 'y' || c == 't' || c == 'e')
		return 1;
	return c == '0' || c == 'n' || c == 'f' || c == 'd' ? 0 : -1;
}

/** Return: whether the kernel takes it; the value then is in *@out. */
static bool read_count(const struct hd_rules *rules, bool whole, const char *value, size_t len,
		       uint64_t *out)
{
	bool plus = whole && len && value[0] == '+';
	struct text_number number = text_number(value + plus, len - plus);

	*out = number.value;
	if (rules->value[HD_RULE_WORD_BYTES] == 4) {
		number.overflow = number.overflow || number.value > UINT32_MAX;
		*out &= UINT32_MAX;
	}
	return !whole || (number.digits && !number.overflow && number.used + plus == len);
}

/** Parameters that came and went with their table. */
static bool known_to(const struct hd_rules *rules, enum hd_param param)
{
	uint32_t version = rules->version ? rules->version : HD_VERSION_MAX;

	switch (param) {
	case HD_PARAM_HASHDIST:
		return rules->value[HD_RULE_HASHDIST_PARAM];
	case HD_PARAM_MHASH_ENTRIES:
	case HD_PARAM_MPHASH_ENTRIES:
		return version >= HD_VERSION(3, 13, 0);
	case HD_PARAM_UHASH_ENTRIES:
		return version >= HD_VERSION(2, 6, 29);
	case HD_PARAM_RHASH_ENTRIES:
		return version < HD_VERSION(3, 6, 0);
	default:
		return true;
	}
}

static bool take(const struct hd_rules *rules, enum hd_param param, const struct word *word,
		 uint64_t *out)
{
	bool taken;
	int boolean;

	if (!word->value || !known_to(rules, param))
		return false;
	switch (param) {
	case HD_PARAM_HASHDIST:
		if (rules->value[HD_RULE_HASHDIST_SYNTAX] == HD_SYNTAX_BOOL) {
			boolean = boolean_word(word->value, word->value_len);
			*out = boolean == 1;
			return boolean >= 0;
		}
		taken = read_count(rules, false, word->value, word->value_len, out);
		*out = (uint32_t)*out != 0; /* an int */
		return taken;
	case HD_PARAM_THASH_ENTRIES:
		return read_count(rules, rules->value[HD_RULE_NET_SYNTAX], word->value,
				  word->value_len, out);
	case HD_PARAM_UHASH_ENTRIES: {
		uint64_t least = rules->value[HD_RULE_BASE_SMALL] ? 128 : 256;

		taken = read_count(rules, rules->value[HD_RULE_NET_SYNTAX], word->value,
				   word->value_len, out);
		if (*out && *out < least)
			*out = least;
		return taken;
	}
	default:
		return read_count(rules, rules->value[HD_RULE_ENTRIES_SYNTAX], word->value,
				  word->value_len, out);
	}
}

static void note_others(struct hd_params *params, const struct word *word)
{
	struct text_number number;

	if (is_name(word, "nohugevmalloc"))
		params->nohugevmalloc = true;
	if (!word->value)
		return;
	if (is_name(word, "numa")) {
		params->numa_off |= text_starts(word->value, word->value_len, "off");
		params->numa_fake |= text_starts(word->value, word->value_len, "fake=");
	}
	number = text_number(word->value, word->value_len);
	if (!number.digits || number.value > UINT32_MAX)
		return;
	if (is_name(word, "possible_cpus"))
		params->possible_cpus = (uint32_t)number.value;
	else if (is_name(word, "nr_cpus"))
		params->nr_cpus = (uint32_t)number.value;
}

void hd_params_parse(struct hd_params *params, const struct hd_rules *rules, const char *cmdline,
		     size_t len)
{
	struct word word;
	size_t at = 0;

	*params = (struct hd_params){ 0 };
	if (len > UINT32_MAX)
		len = UINT32_MAX;
	while (next_word(cmdline, len, &at, &word)) {
		uint64_t value;
		int p = 0;

		if (text_is(word.name, word.name_len, "--") && !word.value)
			break;
		if (!resembles(&word)) { /* most words: neither a name nor nearly one */
			note_others(params, &word);
			continue;
		}
		while (p < HD_PARAM_COUNT && !is_name(&word, names[p]))
			p++;
		if (p == HD_PARAM_COUNT) {
			note_others(params, &word);
			note_misspelt(params, &word);
			continue;
		}
		params->param[p].at = (uint32_t)word.at;
		params->param[p].len = (uint32_t)word.len;
		if (params->param[p].times < UINT8_MAX)
			params->param[p].times++;
		params->param[p].state = HD_PARAM_IGNORED;
		if (take(rules, p, &word, &value)) {
			params->param[p].state = HD_PARAM_SET;
			params->param[p].in_force = true;
			params->param[p].value = value;
		}
	}
}
