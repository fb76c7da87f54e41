// SPDX-License-Identifier: Apache-2.0
//
// Before the first connection --wait decides how long to wait for a daemon. With a spool the
// transfer waits in any case: until --timeout or, after the end of an input that is all in the
// spool, for a while (--wait may say how long). A daemon that took the connection and was gone
// before its welcome is probably being started again: it gets a while without --wait, too. After
// the first connection the transfer tries again until --timeout has passed with nothing else to do:
// input that can still go into a spool is something to do.
#include "client/send/reconnect.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "client/locate/probe.h"
#include "client/locate/search.h"
#include "config.h"
#include "protocol/base/clock.h"
#include "protocol/text/forms.h"
#include "protocol/wire/reply.h"

const char *reconnect_unacknowledged(const struct transfer *t, char *text, size_t size) {
    uint64_t lines = intake_unacked(&t->intake);
    char count[TERM_COUNT_SIZE];
    snprintf(text, size, "%s line%s of %s not acknowledged", term_count(count, lines),
             lines == 1 ? "" : "s", t->input->name);
    return text;
}

// ---- What is left -------------------------------------------------------------------------------

// What was read, but is in no window of the intake yet. A line that was read in part counts among
// those that were not read, if there is more of it.
static uint64_t lines_of_log(const struct transfer *t) {
    const struct textlog *log = &t->log;
    bool ended = log->over || input_at_end(t->input);
    uint64_t lines = 0;
    for (size_t at = log->at; at < log->len; at++) {
        lines += log->data[at] == '\n' || (ended && at + 1 == log->len);
    }
    return lines;
}

static void say_lost(struct transfer *t, uint64_t lines) {
    char count[TERM_COUNT_SIZE], where[PATH_MAX + 32];
    const char *unsynced = ": a spool that cannot be synced takes no more";
    snprintf(where, sizeof(where), "found no room in %s", t->spool->dir);
    term_say(t->term, "%s line%s of %s %s and %s lost%s", term_count(count, lines),
             lines == 1 ? "" : "s", t->input->name,
             !t->spool->unsynced ? where
             : lines == 1        ? "was read"
                                 : "were read",
             lines == 1 ? "is" : "are", t->spool->unsynced ? unsynced : "");
}

// `lines` -1: nobody knows how many.
static void say_not_read(struct transfer *t, int64_t lines) {
    char count[TERM_COUNT_SIZE];
    if (lines < 0) {
        term_say(t->term, "the rest of %s was not read", t->input->name);
    } else if (lines > 0) {
        term_say(t->term, "%s line%s of %s %s not read", term_count(count, (uint64_t)lines),
                 lines == 1 ? "" : "s", t->input->name, lines == 1 ? "was" : "were");
    }
}

// `whole`: the spool has all that the daemon has not acknowledged.
static void say_kept(struct transfer *t, bool whole) {
    const struct spool *spool = t->spool;
    const char *name = t->input->name;
    const char *option = t->sender.state == SENDER_CLOSED ? " --new-session" : "";
    char count[TERM_COUNT_SIZE];
    uint64_t acked = t->sender.window.acked;
    uint64_t kept = (spool->last > acked ? spool->last - acked : 0) + spool->open_loss;
    if (!spool_is_there(spool)) {
        term_say(t->term, "the rest of %s is not kept: its files in %s were removed or moved", name,
                 spool->dir);
    } else if (spool->damaged) {
        return; // nobody can send it, or a message named the place before
    } else if (whole && !spool->unsynced) {
        term_say(t->term, "the rest of %s is kept: 'nvtxt-send --resume %s%s' sends it", name,
                 spool->dir, option);
    } else if (kept == 0) {
        term_say(t->term,
                 "the lines of %s in %s are stored: 'nvtxt-send --resume %s%s' ends the session",
                 name, spool->dir, spool->dir, option);
    } else {
        term_say(t->term, "%s line%s of %s %s %s%s%s: 'nvtxt-send --resume %s%s' sends %s",
                 term_count(count, kept), kept == 1 ? "" : "s", name, kept == 1 ? "is" : "are",
                 spool->unsynced ? "in " : "kept in ", spool->dir,
                 spool->unsynced ? ", whose disk may lack some when its power goes" : "",
                 spool->dir, option, kept == 1 ? "it" : "them");
    }
}

enum outcome reconnect_say_left(struct transfer *t, enum outcome r) {
    struct spool *spool = t->spool;
    uint64_t lost = intake_unspooled(&t->intake) + lines_of_log(t) + t->intake.dropped;
    bool empty = spool->last == 0 && !spool->open_loss;
    if (empty) {
        (void)spool_remove(spool);
    }
    if (empty && lost == 0 && !spool->unsynced) {
        return r; // nothing was taken
    }
    int64_t rest = input_at_end(t->input) ? 0 : input_count_rest(t->input);
    if (empty) {
        term_say(t->term, "no line of %s is in %s", t->input->name, spool->dir);
    } else {
        say_kept(t, lost == 0 && rest == 0);
    }
    if (lost > 0) {
        say_lost(t, lost);
    }
    say_not_read(t, rest);
    bool nothing = empty && t->input->taken == 0 && lost == 0;
    return !spool->unsynced ? r : nothing ? OUTCOME_NO_OUTPUT : OUTCOME_IO;
}

// Writes the text as a word of a shell's command line.
static void quote(const char *text, char *out, size_t size) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./+:@%,=-";
    if (text[0] != '-' && text[strspn(text, plain)] == '\0') {
        snprintf(out, size, "%s", text);
        return;
    }
    size_t len = (size_t)snprintf(out, size, "%s\"", *text == '-' ? "./" : "");
    for (; *text && len + 4 < size; text++) {
        if (strchr("\"\\$`", *text)) {
            out[len++] = '\\';
        }
        out[len++] = *text;
    }
    snprintf(out + len, size - len, "\"");
}

void reconnect_say_how_on(struct transfer *t) {
    char name[2 * PATH_MAX];
    bool is_stdin = strcmp(t->input->name, INPUT_STDIN_NAME) == 0;
    quote(t->input->name, name, sizeof(name));
    term_say(t->term,
             "lines of it may be stored already; continue with '%snvtxt-send %s--session %s%s%s'",
             is_stdin ? "... | " : "", t->options->text ? "--text " : "", t->sender.hello.session,
             is_stdin ? "" : " ", is_stdin ? "" : name);
}

// A new input with a spool needs no daemon.
static bool is_spooling(const struct transfer *t) {
    return t->spool && !t->options->resume;
}

// The places that were tried, each with the reason; only one when it is known which it is.
static const char *tried(const struct transfer *t, char *text, size_t size) {
    const struct search *search = t->options->search;
    if (search->won < 0 && search->count > 1) {
        return search_list(search, text, size);
    }
    snprintf(text, size, "%s (%s)", t->link.path, t->away_why);
    return text;
}

static enum outcome give_up(struct transfer *t, const char *why) {
    char text[5120];
    t->options->given_up = true;
    term_say(t->term, "giving up on the daemon at %s (%s): %s", t->link.path, why,
             reconnect_unacknowledged(t, text, sizeof(text)));
    return t->spool ? OUTCOME_LATER : t->away_outcome;
}

static enum outcome no_daemon(struct transfer *t) {
    if (t->away_outcome == OUTCOME_LATER) {
        term_say(t->term, "the daemon at %s refuses: %s", t->link.path, t->away_why);
        return OUTCOME_LATER;
    }
    char text[SEARCH_MOST * 640], advice[512];
    enum outcome outcome =
        search_explain(t->options->search, text, sizeof(text), advice, sizeof(advice));
    if (t->options->search->won >= 0) { // there was one
        term_say(t->term, "no daemon at %s: %s", t->link.path, t->away_why);
    } else {
        term_say(t->term, "%s", text);
    }
    size_t len = strlen(advice);
    if (len == 0) {
        return outcome;
    }
    advice[0] = (char)(advice[0] >= 'a' ? advice[0] - 'a' + 'A' : advice[0]);
    snprintf(advice + len, sizeof(advice) - len, ".");
    term_line(t->term, advice);
    return outcome;
}

static void say_away(struct transfer *t, bool before) {
    char text[5120], places[SEARCH_MOST * 640];
    t->logged_away = true;
    if (before) {
        term_say(t->term, "the daemon at %s is gone (%s), trying again: %s", t->link.path,
                 t->away_why, reconnect_unacknowledged(t, text, sizeof(text)));
    } else {
        term_say(t->term, "no daemon yet at %s: waiting", tried(t, places, sizeof(places)));
    }
}

// There is no daemon (any more): decides whether to go on trying.
enum outcome reconnect_lost(struct transfer *t, enum outcome outcome, const char *why,
                            bool certain) {
    int64_t now = nvtxt_monotonic_ms();
    bool was_streaming = t->sender.state == SENDER_STREAMING;
    t->cut_short |= t->sender.state == SENDER_GREETING;
    link_close(&t->link);
    sender_disconnected(&t->sender);
    t->away_outcome = outcome;
    t->absent = outcome == OUTCOME_NO_DAEMON && certain && !t->denied;
    snprintf(t->away_why, sizeof(t->away_why), "%s", why);
    t->away_ms = t->away_ms < 0 ? now : t->away_ms;
    t->silent_ms = was_streaming ? -1 : t->silent_ms;
    bool before = t->options->connected_before;
    bool endless = before || is_spooling(t) || t->busy_ms >= 0;
    int64_t most = endless ? -1 : t->options->wait_ms;
    bool patient = endless || t->options->wait || !certain;
    if (!patient && t->cut_short) {
        patient = true;
        most = t->options->timeout_ms >= 0 ? t->options->timeout_ms : TRANSFER_CUT_SHORT_MS;
    }
    if (!patient || (most >= 0 && now - t->away_ms >= most)) {
        return no_daemon(t);
    }
    if (!t->logged_away && !t->options->quiet && t->options->timeout_ms != 0 && certain &&
        (t->link.failures > 0 || !before)) {
        say_away(t, before);
    }
    link_back_off(&t->link, now);
    if (most >= 0 && t->link.next_ms > t->away_ms + most) {
        t->link.next_ms = t->away_ms + most;
    }
    return OUTCOME_RUNNING;
}

// The daemon has closed the session and stored nothing of its rest, so the rest can be sent under
// another id. The spool notes the id before the first of its lines is sent.
static enum outcome begin_rest(struct transfer *t) {
    static const char lacks[] = "the variables, definitions and open ranges of the lines before";
    char text[5120], session[NVTXT_SESSION_ID_BYTES + 1];
    uint64_t line = t->sender.end.line;
    if (t->options->renews) {
        return OUTCOME_PROTOCOL;
    }
    if (!t->options->new_session || (t->renewed && line == t->sender.base)) {
        term_say(t->term, "%s; --new-session sends what is left in a session that lacks %s",
                 reconnect_unacknowledged(t, text, sizeof(text)), lacks);
        return OUTCOME_PROTOCOL;
    }
    int r = nvtxt_uuid_make(session);
    if (r == 0 && t->spool) {
        r = spool_renew(t->spool, session, line);
    }
    if (r < 0) {
        term_say(t->term, "no new session can be begun: %s",
                 t->spool && *t->spool->fault ? t->spool->fault : strerror(-r));
        return t->spool ? OUTCOME_IO : OUTCOME_SYSTEM;
    }
    term_say(t->term, "what follows is a session of its own, which lacks %s", lacks);
    t->renewed = true;
    sender_renew(&t->sender, session, line);
    link_close(&t->link);
    link_back_off(&t->link, nvtxt_monotonic_ms());
    return OUTCOME_RUNNING;
}

enum outcome reconnect_refused(struct transfer *t) {
    static const char *const passing[] = {NVTXT_ERROR_BUSY_SESSION, NVTXT_ERROR_QUOTA,
                                          NVTXT_ERROR_SHUTTING_DOWN, NVTXT_ERROR_DISCONNECTED};
    const struct sender_refusal *refusal = &t->sender.refusal;
    char why[sizeof(refusal->code) + sizeof(refusal->message) + 4];
    snprintf(why, sizeof(why), "%s [%s]", refusal->message, refusal->code);
    int64_t now = nvtxt_monotonic_ms();
    bool kept = t->spool || t->options->renews;
    bool busy = kept && strcmp(refusal->code, NVTXT_ERROR_BUSY_SESSION) == 0;
    t->busy_ms = !busy ? -1 : t->busy_ms < 0 ? now : t->busy_ms;
    if (busy && now - t->busy_ms >= TRANSFER_BUSY_MS) {
        term_say(t->term, "the daemon at %s refuses: %s", t->link.path, why);
        return OUTCOME_LATER;
    }
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
        if (strcmp(refusal->code, passing[i]) == 0) {
            return reconnect_lost(t, OUTCOME_LATER, why, true);
        }
    }
    term_say(t->term, "the daemon at %s refuses: %s", t->link.path, why);
    bool lost = strcmp(refusal->code, NVTXT_ERROR_UNREADABLE_SESSION) == 0;
    if (lost && t->options->new_session && t->sender.welcomed) {
        t->sender.end.line = t->sender.window.acked;
        return begin_rest(t);
    }
    return OUTCOME_PROTOCOL;
}

// For --verbose: which daemon takes it, and which others would have.
static void say_where(struct transfer *t) {
    struct search *search = t->options->search;
    struct search others = *search;
    char also[SEARCH_MOST * 128] = "";
    size_t len = 0;
    probe_sockets(&others, true);
    for (size_t i = 0; i < others.count && len < sizeof(also); i++) {
        const struct search_place *place = &others.places[i];
        if (place->state == SEARCH_GOOD && (int)i != search->won) {
            int n = snprintf(also + len, sizeof(also) - len, "; a daemon is live at %s (%s), too",
                             place->path, place->whose);
            len += n > 0 ? (size_t)n : 0;
        }
    }
    const struct search_place *place = &search->places[search->won];
    term_say(t->term, "%s goes to the daemon at %s (%s)%s", t->input->name, place->path,
             place->whose, also);
}

// "version 0.1.0", or what is known of it.
static const char *version_of(const struct sender *sender, char *text, size_t size) {
    snprintf(text, size, *sender->version ? "version %s" : "a version before 0.2.0%s",
             sender->version);
    return text;
}

static void warn_of_levels(struct transfer *t) {
    char version[64];
    term_say(t->term,
             "warning: the daemon at %s (%s) has no levels, nvtxt-send " PACKAGE_VERSION
             " has: nothing of %s is lost, but its levels are payloads only, and -1 stands for "
             "none",
             t->link.path, version_of(&t->sender, version, sizeof(version)), t->input->name);
}

enum outcome reconnect_too_old(struct transfer *t) {
    const struct sender *sender = &t->sender;
    char version[64], line[TERM_COUNT_SIZE];
    bool nvtx = sender->state == SENDER_TOO_OLD;
    t->options->too_old = true;
    term_say(t->term,
             "the daemon at %s (%s) is too old for nvtxt-send " PACKAGE_VERSION
             ": it has no %s, which %s%s of %s need%s",
             t->link.path, version_of(sender, version, sizeof(version)),
             nvtx ? "extension nvtx" : "escapes", nvtx ? "the lines" : "line ",
             nvtx ? "" : term_count(line, sender->unfit), t->input->name, nvtx ? "" : "s");
    if (!nvtx && !t->spool) {
        term_say(t->term, "the lines before it are stored; it and what follows are not");
    }
    return OUTCOME_PROTOCOL;
}

enum outcome reconnect_welcomed(struct transfer *t) {
    if (t->sender.lacks_levels && !t->logged_levels && !t->options->quiet) {
        warn_of_levels(t);
        t->logged_levels = true;
    }
    if (t->options->verbose && !t->logged_where) {
        say_where(t);
        t->logged_where = true;
    }
    if (t->logged_away && !t->options->quiet) {
        char count[TERM_COUNT_SIZE];
        term_say(t->term, "connected to %s, going on after line %s", t->link.path,
                 term_count(count, t->sender.window.acked));
    }
    t->logged_away = false;
    t->away_ms = t->silent_ms = t->busy_ms = -1;
    t->options->connected_before = true;
    link_worked(&t->link);
    return OUTCOME_RUNNING;
}

enum outcome reconnect_closed(struct transfer *t) {
    uint64_t line = t->sender.end.line;
    if (t->sender.forgot) {
        term_say(t->term,
                 "the daemon at %s forgot the session of %s: it knows %llu line%s, but had "
                 "acknowledged %llu; was its store replaced?",
                 t->link.path, t->input->name, (unsigned long long)t->sender.known,
                 t->sender.known == 1 ? "" : "s", (unsigned long long)line);
    } else {
        term_say(t->term,
                 "the daemon at %s has closed the session of %s at line %llu: it was away for too "
                 "long, or its state could not be read",
                 t->link.path, t->input->name, (unsigned long long)line);
    }
    return begin_rest(t);
}

// Tries one place after the other until one accepts, which is then used ever after. Where the queue
// is full, there is a daemon. Returns the place that was tried last.
static const struct search_place *connect_to_first(struct transfer *t) {
    struct search *search = t->options->search;
    bool known = search->won >= 0;
    size_t i = known ? (size_t)search->won : 0;
    size_t forbidden = 0, tries = 0;
    struct search_place *place;
    do {
        place = &search->places[i];
        t->link.path = place->path;
        if (place->state != SEARCH_FOREIGN) {
            search_note(place, link_connect(&t->link));
        }
        forbidden += place->state == SEARCH_FORBIDDEN;
        tries++;
    } while (place->state != SEARCH_GOOD && place->state != SEARCH_FULL && !known &&
             ++i < search->count);
    t->denied = forbidden == tries;
    if (place->state == SEARCH_GOOD && !known) {
        search->won = (int)i;
    }
    return place;
}

enum outcome reconnect_try(struct transfer *t) {
    const struct search_place *last = connect_to_first(t);
    if (last->state == SEARCH_GOOD) {
        return sender_connected(&t->sender) == 0 ? OUTCOME_RUNNING : OUTCOME_SYSTEM;
    }
    return reconnect_lost(t, OUTCOME_NO_DAEMON, search_why(last), last->state != SEARCH_FULL);
}

// ---- Silence ------------------------------------------------------------------------------------

// There is nothing to do but wait for the daemon.
static bool is_waiting(const struct transfer *t) {
    if (t->spool && intake_wants(&t->intake)) {
        return false;
    }
    return t->sender.state != SENDER_STREAMING || t->intake.over || intake_unacked(&t->intake) > 0;
}

// The whole input is in its spool, and there never was a daemon: there need not be one.
static bool may_leave(const struct transfer *t) {
    const struct transfer_options *options = t->options;
    return is_spooling(t) && t->intake.over && !t->intake.stuck && t->sender.state == SENDER_AWAY &&
           t->absent && !options->connected_before && (!options->wait || options->wait_ms >= 0) &&
           options->timeout_ms < 0;
}

// How long it waits for a daemon then.
static int64_t leave_ms(const struct transfer_options *options) {
    if (options->left) {
        return 0;
    }
    return options->wait ? options->wait_ms : TRANSFER_LEAVE_MS;
}

static enum outcome leave(struct transfer *t) {
    char text[5120];
    t->options->left = true;
    if (intake_unacked(&t->intake) > 0) {
        char places[SEARCH_MOST * 640];
        term_say(t->term, "no daemon at %s: %s", tried(t, places, sizeof(places)),
                 reconnect_unacknowledged(t, text, sizeof(text)));
    }
    if (t->input_error) {
        term_say(t->term, "%s: %s; what was read of it is kept", t->input->name,
                 strerror(t->input_error));
        return OUTCOME_IO;
    }
    return t->intake.dropped > 0 ? OUTCOME_FAULTS : OUTCOME_DONE;
}

int64_t reconnect_deadline(const struct transfer *t) {
    const struct transfer_options *options = t->options;
    if (may_leave(t) && t->silent_ms >= 0) {
        return t->silent_ms + leave_ms(options);
    }
    bool greeting = t->sender.state == SENDER_GREETING;
    if (!options->connected_before && greeting && options->wait && options->wait_ms >= 0) {
        return t->begun_ms +
               (options->wait_ms > TRANSFER_SILENT_MS ? options->wait_ms : TRANSFER_SILENT_MS);
    }
    bool counts = options->connected_before || t->spool || greeting;
    if (options->timeout_ms < 0 || t->silent_ms < 0 || !counts) {
        return -1;
    }
    bool away = t->sender.state == SENDER_AWAY;
    int64_t most = options->timeout_ms;
    return t->silent_ms + (away || most > TRANSFER_SILENT_MS ? most : TRANSFER_SILENT_MS);
}

enum outcome reconnect_check_silence(struct transfer *t, int64_t now) {
    uint64_t heard = t->sender.window.acked;
    if (!is_waiting(t)) {
        t->silent_ms = -1;
    } else if (t->silent_ms < 0 || heard != t->heard) {
        t->silent_ms = now;
    }
    t->heard = heard;
    int64_t deadline = reconnect_deadline(t);
    if (deadline < 0 || now < deadline) {
        return OUTCOME_RUNNING;
    }
    if (may_leave(t)) {
        return leave(t);
    }
    if (t->sender.state == SENDER_AWAY) {
        return give_up(t, t->away_why);
    }
    t->away_outcome = OUTCOME_LATER;
    return give_up(t, t->sender.state == SENDER_GREETING ? "it does not answer"
                                                         : "it acknowledges nothing");
}
