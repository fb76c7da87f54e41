// SPDX-License-Identifier: Apache-2.0
//
// A daemon accepts when its socket takes a connection, which is closed at once. The question who is
// there is a line that means nothing but the question to both kinds of socket: to a data socket it
// is a hello that asks for no session, and to a control socket no request. An older daemon misses
// the session in it.
#include "client/locate/probe.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/locate/control_link.h"
#include "protocol/base/origin.h"
#include "protocol/wire/hello.h"

int probe_accepts(const char *path) {
    struct control_link link;
    control_link_init(&link, path);
    int r = control_link_open(&link, false);
    control_link_close(&link);
    return r == CONTROL_LINK_FULL ? 0 : r; // a daemon has that queue
}

// A socket of another kind is refused, but only where there is one.
static bool is_bound(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = search_socket_fits(path) ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0) {
        return false;
    }
    memcpy(address.sun_path, path, strlen(path));
    bool bound =
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 && errno == EPROTOTYPE;
    close(fd);
    return bound;
}

bool probe_is_there(const struct search *search) {
    bool is_there = false;
    for (size_t i = 0; i < search->count && !is_there; i++) {
        const struct search_place *place = &search->places[i];
        is_there = place->state != SEARCH_FOREIGN && is_bound(place->path);
    }
    return is_there;
}

void probe_sockets(struct search *search, bool all) {
    for (size_t i = 0; i < search->count && (all || search->won < 0); i++) {
        struct search_place *place = &search->places[i];
        if (place->state == SEARCH_FOREIGN) {
            continue;
        }
        search_note(place, probe_accepts(place->path));
        if (place->state == SEARCH_GOOD && search->won < 0) {
            search->won = (int)i;
        }
    }
}

static int try_to_read(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    close(fd);
    return 0;
}

void probe_stores(struct search *search, bool all) {
    for (size_t i = 0; i < search->count && (all || search->won < 0); i++) {
        struct search_place *place = &search->places[i];
        search_note(place, try_to_read(place->path));
        if (place->state == SEARCH_GOOD && search->won < 0) {
            search->won = (int)i;
        }
    }
}

// ---- Who is there -------------------------------------------------------------------------------

static enum probe_kind kind_of(struct nvtxt_slice answer, struct probe_who *who) {
    struct nvtxt_ctl_reply control;
    struct nvtxt_reply data;
    if (nvtxt_reply_paths(answer, who->control, who->store) == 0) {
        return PROBE_DATA;
    }
    bool is_control = nvtxt_ctl_reply_parse(answer, &control) == 0;
    nvtxt_ctl_reply_deinit(&control);
    return is_control                              ? PROBE_CONTROL
           : nvtxt_reply_parse(answer, &data) == 0 ? PROBE_OLD
                                                   : PROBE_SILENT;
}

static int exchange(struct control_link *link, int timeout_ms) {
    const struct nvtxt_hello hello = {
        .protocol = NVTXT_PROTOCOL_VERSION, .is_probe = true, .diagnostics = true};
    struct nvtxt_buf line = {0};
    nvtxt_hello_format(&line, &hello);
    int r =
        nvtxt_buf_failed(&line)
            ? nvtxt_origin(-ENOMEM)
            : control_link_exchange(link, (struct nvtxt_slice){line.data, line.len}, timeout_ms);
    nvtxt_buf_deinit(&line);
    return r;
}

int probe_ask(const char *path, bool wait, int timeout_ms, struct probe_who *who) {
    struct control_link link;
    *who = (struct probe_who){.kind = PROBE_SILENT};
    control_link_init(&link, path);
    int r = control_link_open(&link, wait);
    if (r != 0) {
        return r;
    }
    who->why = exchange(&link, timeout_ms);
    if (who->why == 0) {
        who->kind = kind_of((struct nvtxt_slice){link.line.data, link.line.len}, who);
        who->why = who->kind == PROBE_SILENT ? CONTROL_LINK_BAD_ANSWER : 0;
    }
    control_link_close(&link);
    return 0;
}

static int copy_path(const json_t *result, const char *name, char *path, size_t size) {
    const char *text = json_string_value(json_object_get(result, name));
    if (!text) {
        return CONTROL_LINK_BAD_ANSWER;
    }
    if (strlen(text) >= size) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    strcpy(path, text);
    return 0;
}

int probe_status(const char *control, char *data, char *store, size_t size) {
    struct nvtxt_ctl_reply reply = {0};
    struct control_link link;
    *data = *store = '\0';
    control_link_init(&link, control);
    int r = control_link_open(&link, false);
    if (r != 0) {
        return r;
    }
    r = control_link_ask(&link, "status", NULL, PROBE_ASK_MS, &reply);
    if (r == 0 && !reply.ok) {
        r = strcmp(reply.code, NVTXT_CTL_FORBIDDEN) == 0 ? nvtxt_origin(-EACCES)
                                                         : CONTROL_LINK_BAD_ANSWER;
    }
    if (r == 0) {
        (void)copy_path(reply.result, "socket", data, size);
        r = copy_path(reply.result, "store", store, size);
    }
    if (*store != '/') { // it means another folder there
        *store = '\0';
        r = r ?: CONTROL_LINK_BAD_ANSWER;
    }
    nvtxt_ctl_reply_deinit(&reply);
    control_link_close(&link);
    return r;
}
