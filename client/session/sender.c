// SPDX-License-Identifier: Apache-2.0
//
// A state machine: only replies and the two reports about the connection change the state. A reply
// that contradicts earlier ones (it acknowledges a line that was never read) leads to CONFUSED with
// a sentence, because to go on would lose or double lines. A daemon that forgot lines it had
// acknowledged leads to CLOSED: those lines are no longer here.
#include "client/session/sender.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash_value.h"

#define REPLY_BYTES 65536u // the longest reply that is read; the daemon's have at most a few KiB
#define FITTED_BYTES ((size_t)128 << 10) // twice the longest line of a log
#define SEEN_MAX 4096u // diagnostics remembered; a daemon sends 1,000 a source by default

static const char end_line[] = NVTXT_END_LINE "\n";

int sender_init(struct sender *sender, const struct nvtxt_hello *hello, size_t window_bytes) {
    *sender = (struct sender){.hello = *hello};
    window_init(&sender->window, window_bytes, WINDOW_CHUNK, WINDOW_LINE);
    sender->replies = malloc(REPLY_BYTES);
    return sender->replies ? 0 : nvtxt_origin(-ENOMEM);
}

void sender_deinit(struct sender *sender) {
    window_deinit(&sender->window);
    nvtxt_buf_deinit(&sender->greeting);
    nvtxt_buf_deinit(&sender->fitted);
    free(sender->replies);
    free(sender->seen);
    *sender = (struct sender){0};
}

void sender_resume(struct sender *sender, uint64_t line) {
    window_restart(&sender->window, line);
    sender->welcomed = true; // as the process before was: the daemon sends stored diagnostics again
    sender->resumed = true;
    sender->fresh = false; // the process before may have begun it
    sender->end_sent = true;
}

void sender_repeat(struct sender *sender) {
    sender->repeats = true;
}

// Lines go out from the first that is not acknowledged on.
static void begin_fitting(struct sender *sender) {
    sender->fitted.len = sender->fitted_at = 0;
    sender->fitted_line = sender->window.acked;
    sender->unfit = 0;
}

bool sender_skip(struct sender *sender) {
    struct window *window = &sender->window;
    uint64_t before = window->acked;
    if (before >= sender->skip || before == window->last) {
        return false;
    }
    window_ack(window, sender->skip);
    (void)window_rewind(window, window->acked); // cannot fail: the line is the first that is held
    begin_fitting(sender);
    return true;
}

void sender_renew(struct sender *sender, const char *session, uint64_t base) {
    snprintf(sender->hello.session, sizeof(sender->hello.session), "%s", session);
    window_ack(&sender->window, base);
    sender->base = base;
    sender->end_sent = sender->forgot = false;
    sender->fresh = true;
    sender->state = SENDER_AWAY;
}

uint64_t sender_last(const struct sender *sender) {
    uint64_t last = sender->window.last;
    return last > sender->stored ? last : sender->stored;
}

int sender_finish(struct sender *sender) {
    sender->input_over = true;
    return window_finish(&sender->window);
}

int sender_connected(struct sender *sender) {
    assert(sender->state == SENDER_AWAY);
    // Then it repeats diagnostics, and knows that the session may have been there.
    sender->hello.has_acked = (sender->welcomed || sender->repeats) && !sender->fresh;
    uint64_t acked = sender->window.acked;
    sender->hello.acked = acked > sender->base ? acked - sender->base : 0;
    nvtxt_buf_clear(&sender->greeting);
    nvtxt_hello_format(&sender->greeting, &sender->hello);
    sender->greeting_at = 0;
    sender->end_at = 0;
    sender->replies_len = 0;
    if (nvtxt_buf_failed(&sender->greeting)) {
        return nvtxt_origin(-ENOMEM);
    }
    sender->state = SENDER_GREETING;
    return 0;
}

void sender_disconnected(struct sender *sender) {
    if (sender->state != SENDER_ENDED && sender->state != SENDER_OVER &&
        sender->state != SENDER_CLOSED && sender->state != SENDER_CONFUSED &&
        sender->state != SENDER_TOO_OLD) {
        sender->state = SENDER_AWAY;
    }
}

// ---- Out ----------------------------------------------------------------------------------------

// Whether a string of the line has escapes: between two " a backslash is one.
static bool needs_escapes(const char *line, const char *end) {
    for (const char *at = line; at < end; at++) {
        const char *close =
            *at == '\'' || *at == '"' ? memchr(at + 1, *at, (size_t)(end - at - 1)) : at;
        if (*at == '"' && memchr(at, '\\', (size_t)((close ?: end) - at))) {
            return true;
        }
        if (!close) {
            return false;
        }
        at = close;
    }
    return false;
}

// A marker with the empty payload, which only a session with levels has, gets one that is no level.
// Both have the same length, so that the bytes of the window count as sent.
static void fit_payload(char *line, size_t len) {
    static const char marker[] = "Marker,", none[] = ",''\n", other[] = ",-1\n";
    size_t tail = sizeof(none) - 1;
    if (len > sizeof(marker) + tail && memcmp(line, marker, sizeof(marker) - 1) == 0 &&
        memcmp(line + len - tail, none, tail) == 0) {
        memcpy(line + len - tail, other, tail);
    }
}

// A line that sets the JSON of ranges becomes a comment of the same length.
static void drop_json(char *line, size_t len) {
    static const char json[] = "Json=";
    if (len > sizeof(json) - 1 && memcmp(line, json, sizeof(json) - 1) == 0) {
        *line = '#';
    }
}

// Copies what stands next in the window, whole lines as far as there is room for them.
static void copy_next(struct sender *sender) {
    struct nvtxt_buf *fitted = &sender->fitted;
    struct iovec pieces[8];
    fitted->len = sender->fitted_at = 0;
    int count = window_peek(&sender->window, pieces, 8);
    for (int i = 0; i < count; i++) {
        size_t room = FITTED_BYTES - fitted->len;
        size_t len = pieces[i].iov_len < room ? pieces[i].iov_len : room;
        memcpy(fitted->data + fitted->len, pieces[i].iov_base, len);
        fitted->len += len;
    }
    const char *last = fitted->len ? memrchr(fitted->data, '\n', fitted->len) : NULL;
    if (last) { // else it is a line that no client of ours makes: it goes out as it is
        fitted->len = (size_t)(last - fitted->data) + 1;
    }
}

// Takes the next lines when those that were taken before are sent.
static void fit_lines(struct sender *sender) {
    struct nvtxt_buf *fitted = &sender->fitted;
    if (sender->fitted_at < fitted->len || sender->unfit) {
        return;
    }
    copy_next(sender);
    char *last = fitted->data + fitted->len, *end;
    for (char *line = fitted->data; line < last; line = end + 1) {
        end = memchr(line, '\n', (size_t)(last - line));
        if (!end) {
            return;
        }
        sender->fitted_line++;
        if (sender->lacks_nvtx) {
            drop_json(line, (size_t)(end - line));
        }
        if (sender->lacks_escapes && *line != '#' && needs_escapes(line, end)) {
            sender->unfit = sender->fitted_line;
            fitted->len = (size_t)(line - fitted->data);
            return;
        }
        if (sender->lacks_levels) {
            fit_payload(line, (size_t)(end - line) + 1);
        }
    }
}

static int output_fitted(struct sender *sender, struct iovec *piece) {
    fit_lines(sender);
    size_t left = sender->fitted.len - sender->fitted_at;
    *piece = (struct iovec){sender->fitted.data + sender->fitted_at, left};
    return left > 0;
}

bool sender_is_stuck(const struct sender *sender) {
    return sender->unfit > 0 && sender->state == SENDER_STREAMING &&
           sender->window.acked + 1 >= sender->unfit;
}

int sender_output(struct sender *sender, struct iovec *pieces, int most) {
    if (sender->state == SENDER_GREETING) {
        size_t left = sender->greeting.len - sender->greeting_at;
        pieces[0] = (struct iovec){sender->greeting.data + sender->greeting_at, left};
        return left > 0;
    }
    if (sender->state != SENDER_STREAMING) {
        return 0;
    }
    bool fits = !sender->lacks_levels && !sender->lacks_escapes && !sender->lacks_nvtx;
    int count = fits ? window_peek(&sender->window, pieces, most) : output_fitted(sender, pieces);
    size_t end_left = sizeof(end_line) - 1 - sender->end_at;
    bool all = sender->input_over && sender->skip <= sender->window.last &&
               (fits || (count == 0 && !sender->unfit));
    if (count < most && all && end_left > 0) {
        pieces[count].iov_base = (char *)(uintptr_t)end_line + sender->end_at;
        pieces[count++].iov_len = end_left;
    }
    return count;
}

void sender_wrote(struct sender *sender, size_t n) {
    if (sender->state == SENDER_GREETING) {
        sender->greeting_at += n;
        return;
    }
    size_t lines = window_ready(&sender->window);
    size_t of_lines = n < lines ? n : lines;
    window_take(&sender->window, of_lines);
    sender->fitted_at += sender->fitted.len > 0 ? of_lines : 0;
    sender->end_at += n - of_lines;
    if (sender->end_at == sizeof(end_line) - 1) {
        sender->end_sent = true;
    }
}

// ---- In -----------------------------------------------------------------------------------------

static void confuse(struct sender *sender, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void confuse(struct sender *sender, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(sender->refusal.message, sizeof(sender->refusal.message), format, args);
    va_end(args);
    sender->refusal.code[0] = '\0';
    sender->state = SENDER_CONFUSED;
}

static void acknowledge(struct sender *sender, uint64_t line) {
    window_ack(&sender->window, line);
    size_t kept = 0;
    for (size_t i = 0; i < sender->seen_len; i++) {
        if (sender->seen[i].line > line) {
            sender->seen[kept++] = sender->seen[i];
        }
    }
    sender->seen_len = kept;
}

// Returns 0 or -ENOMEM.
static int take_features(struct sender *sender, const struct nvtxt_reply *reply) {
    memcpy(sender->version, reply->version, sizeof(sender->version));
    sender->lacks_levels = sender->hello.levels && !reply->levels;
    sender->lacks_escapes = sender->hello.escapes && !reply->escapes && !reply->nvtx;
    sender->lacks_nvtx = sender->hello.nvtx && !reply->nvtx;
    bool lacks = sender->lacks_levels || sender->lacks_escapes || sender->lacks_nvtx;
    return lacks ? nvtxt_buf_reserve(&sender->fitted, FITTED_BYTES) : 0;
}

static void on_welcome(struct sender *sender, const struct nvtxt_reply *reply) {
    struct window *window = &sender->window;
    if (sender->state != SENDER_GREETING) {
        confuse(sender, "it sent two welcomes");
    } else if (take_features(sender, reply) < 0) {
        confuse(sender, "there is no memory for what it lacks");
    } else if (reply->protocol != NVTXT_PROTOCOL_VERSION) {
        confuse(sender, "it speaks protocol %lld, this program protocol %d%s",
                (long long)reply->protocol, NVTXT_PROTOCOL_VERSION,
                reply->protocol > NVTXT_PROTOCOL_VERSION ? ": install a newer package nvtxt-tools"
                                                         : "");
    } else if (sender->lacks_nvtx && !sender->hello.nvtx_optional) {
        sender->state = SENDER_TOO_OLD;
    } else if (reply->line < window->acked) {
        sender->forgot = true;
        sender->known = reply->line;
        sender->end.line = window->acked;
        sender->state = SENDER_CLOSED;
    } else if (reply->line > sender_last(sender) && !sender->resumed && !sender->repeats) {
        confuse(sender, "it claims %llu lines of this session, but only %llu were sent",
                (unsigned long long)reply->line, (unsigned long long)sender_last(sender));
    } else {
        // The daemon still sends the diagnostics of lines that are committed now: `seen` stays.
        if (sender->repeats) {
            sender->skip = reply->line;
            sender_skip(sender);
            (void)window_rewind(window, window->acked);
        } else if (reply->line > window->last) {
            window_restart(window, reply->line);
        } else {
            window_ack(window, reply->line);
            (void)window_rewind(window, reply->line); // cannot fail: it is held, as just checked
        }
        begin_fitting(sender);
        if (reply->line_bytes >= window->line_max) {
            window->line_max = reply->line_bytes + 1;
        }
        sender->welcomed = true;
        sender->fresh = false;
        sender->line_bytes = reply->line_bytes;
        sender->state = SENDER_STREAMING;
    }
}

static uint64_t hash_diag(const struct nvtxt_reply *diag) {
    char key[sizeof(diag->code) + sizeof(diag->message) + 32];
    snprintf(key, sizeof(key), "%u %s %s", diag->column, diag->code, diag->message);
    return nvtxt_hash_bytes(nvtxt_slice_of(key));
}

// True when this diagnostic was handed on before; otherwise remembers it.
static bool was_seen(struct sender *sender, const struct nvtxt_reply *diag) {
    uint64_t hash = hash_diag(diag);
    for (size_t i = 0; i < sender->seen_len; i++) {
        if (sender->seen[i].line == diag->line && sender->seen[i].hash == hash) {
            return true;
        }
    }
    struct sender_seen *seen = sender->seen_len < SEEN_MAX
                                   ? nvtxt_add(&sender->seen, &sender->seen_len, sizeof(*seen))
                                   : NULL;
    if (seen) { // without memory a diagnostic may be printed twice
        *seen = (struct sender_seen){diag->line, hash};
    }
    return false;
}

static void on_end(struct sender *sender, const struct nvtxt_reply *reply) {
    bool whole = sender->end_sent && reply->line == sender_last(sender);
    bool over = sender->repeats && !sender->end_sent && !*reply->how;
    acknowledge(sender, reply->line);
    sender->end = *reply;
    sender->state = whole ? SENDER_ENDED : over ? SENDER_OVER : SENDER_CLOSED;
}

static void on_reply(struct sender *sender, const struct nvtxt_reply *reply) {
    bool streaming = sender->state == SENDER_STREAMING;
    if (reply->type == NVTXT_REPLY_WELCOME) {
        on_welcome(sender, reply);
    } else if (reply->type == NVTXT_REPLY_ERROR) {
        snprintf(sender->refusal.code, sizeof(sender->refusal.code), "%s", reply->code);
        snprintf(sender->refusal.message, sizeof(sender->refusal.message), "%s", reply->message);
        sender->state = SENDER_REFUSED;
    } else if (reply->type == NVTXT_REPLY_OTHER) {
        return; // a later version's
    } else if (!streaming) {
        confuse(sender, "it answered without a welcome");
    } else if (reply->line > sender->window.last && reply->line > sender->skip) {
        confuse(sender, "it answered about line %llu, but only %llu were sent",
                (unsigned long long)reply->line, (unsigned long long)sender->window.last);
    } else if (reply->type == NVTXT_REPLY_ACK) {
        acknowledge(sender, reply->line);
    } else if (reply->type == NVTXT_REPLY_END) {
        on_end(sender, reply);
    } else if (!was_seen(sender, reply) && sender->on_diag) {
        sender->on_diag(sender->context, reply);
    }
}

static bool is_over(const struct sender *sender) {
    return sender->state != SENDER_GREETING && sender->state != SENDER_STREAMING;
}

static void on_line(struct sender *sender, struct nvtxt_slice line) {
    struct nvtxt_reply reply;
    if (nvtxt_reply_parse(line, &reply) != 0) {
        confuse(sender, "it sent something that is no reply");
        return;
    }
    reply.line += sender->base;
    on_reply(sender, &reply);
}

void sender_received(struct sender *sender, const char *data, size_t len) {
    while (len > 0 && !is_over(sender)) {
        const char *lf = memchr(data, '\n', len);
        size_t part = lf ? (size_t)(lf - data) : len;
        if (part > REPLY_BYTES - sender->replies_len) {
            confuse(sender, "it sent a reply of more than %u bytes", REPLY_BYTES);
            return;
        }
        struct nvtxt_slice line = {data, part};
        if (!lf || sender->replies_len > 0) {
            memcpy(sender->replies + sender->replies_len, data, part);
            sender->replies_len += part;
            line = (struct nvtxt_slice){sender->replies, sender->replies_len};
        }
        if (!lf) {
            return;
        }
        sender->replies_len = 0;
        on_line(sender, line);
        data += part + 1;
        len -= part + 1;
    }
}
