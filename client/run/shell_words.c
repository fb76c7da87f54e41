// SPDX-License-Identifier: Apache-2.0
//
// One walk over the bytes. What stands in backquotes, $(...) or ${...} is a part of its word; how
// deep these are nested is counted and not kept, so a bracket in a nested quote may end a word too
// early. That costs a name, no more.
#include "client/run/step_name.h"

#include "protocol/base/scan.h"

static bool is_blank(char byte) {
    return nvtxt_char_is(byte, NVTXT_CHAR_BLANK);
}

static bool is_break(char byte) {
    return byte == ';' || byte == '&' || byte == '|' || byte == '(' || byte == ')' || byte == '\n';
}

static bool is_redirect(char byte) {
    return byte == '<' || byte == '>';
}

// The end of what begins with a quote or a backquote at `at`.
static const char *end_of_quote(const char *at, const char *end) {
    char quote = *at++;
    while (at < end && *at != quote) {
        at += quote != '\'' && *at == '\\' && at + 1 < end ? 2 : 1;
    }
    return at < end ? at + 1 : end;
}

// The end of "$(...)" or "${...}", which begins at `at`.
static const char *end_of_bracket(const char *at, const char *end) {
    char open = at[1], close = open == '(' ? ')' : '}';
    int depth = 0;
    for (at++; at < end; at++) {
        if (*at == '\\' && at + 1 < end) {
            at++;
        } else if (*at == '\'' || *at == '"' || *at == '`') {
            at = end_of_quote(at, end) - 1;
        } else if (*at == open) {
            depth++;
        } else if (*at == close && --depth == 0) {
            return at + 1;
        }
    }
    return end;
}

static const char *end_of_word(const char *at, const char *end) {
    while (at < end && !is_blank(*at) && !is_break(*at) && !is_redirect(*at)) {
        if (*at == '\\') {
            at += at + 1 < end ? 2 : 1;
        } else if (*at == '\'' || *at == '"' || *at == '`') {
            at = end_of_quote(at, end);
        } else if (*at == '$' && at + 1 < end && (at[1] == '(' || at[1] == '{')) {
            at = end_of_bracket(at, end);
        } else {
            at++;
        }
    }
    return at;
}

// Blanks, lines that go on, and a comment up to its line's end.
static const char *skip_blanks(const char *at, const char *end) {
    while (at < end) {
        if (is_blank(*at)) {
            at++;
        } else if (*at == '\\' && at + 1 < end && at[1] == '\n') {
            at += 2;
        } else if (*at == '#') {
            const char *lf = memchr(at, '\n', (size_t)(end - at));
            return lf ?: end;
        } else {
            break;
        }
    }
    return at;
}

static const char *end_of_operator(const char *at, const char *end) {
    char first = *at++;
    bool twice = at < end && *at == first && first != '(' && first != ')' && first != '\n';
    if (twice) {
        at++;
    } else if (is_redirect(first) && at < end && (*at == '&' || *at == '|' || is_redirect(*at))) {
        at++;
    }
    return at;
}

// "2>": the number is a part of what follows.
static bool is_number_before(const char *at, const char *word_end, const char *end) {
    while (at < word_end && nvtxt_char_is(*at, NVTXT_CHAR_DIGIT)) {
        at++;
    }
    return at == word_end && at < end && is_redirect(*at);
}

enum shell_token shell_next(struct nvtxt_slice *line, struct nvtxt_slice *text) {
    const char *end = line->data + line->len;
    const char *at = skip_blanks(line->data, end), *stop = at;
    enum shell_token token = SHELL_END;
    if (at < end && is_break(*at)) {
        token = SHELL_BREAK;
        stop = end_of_operator(at, end);
    } else if (at < end) {
        stop = is_redirect(*at) ? at : end_of_word(at, end);
        token = stop == at || is_number_before(at, stop, end) ? SHELL_REDIRECT : SHELL_WORD;
        stop = token == SHELL_REDIRECT ? end_of_operator(stop, end) : stop;
    }
    *text = (struct nvtxt_slice){at, (size_t)(stop - at)};
    *line = (struct nvtxt_slice){stop, (size_t)(end - stop)};
    return token;
}

struct nvtxt_slice shell_unquote(struct nvtxt_slice word) {
    const char *end = word.data + word.len;
    bool is_quoted = word.len >= 2 && (*word.data == '\'' || *word.data == '"') &&
                     end_of_quote(word.data, end) == end && end[-1] == *word.data;
    return is_quoted ? (struct nvtxt_slice){word.data + 1, word.len - 2} : word;
}

bool shell_is_assignment(struct nvtxt_slice word) {
    size_t len = 0;
    while (len < word.len && nvtxt_char_is(word.data[len], NVTXT_CHAR_WORD)) {
        len++;
    }
    return len > 0 && len < word.len && word.data[len] == '=' &&
           nvtxt_char_is(*word.data, NVTXT_CHAR_WORD_START);
}

bool shell_is_in(struct nvtxt_slice word, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (nvtxt_slice_equal(word, nvtxt_slice_of(list[i]))) {
            return true;
        }
    }
    return false;
}
