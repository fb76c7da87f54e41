// SPDX-License-Identifier: Apache-2.0
//
// What `status` and `sources` say of watched folders and followed files.
#include "daemon/control/control_cmds.h"

#include "daemon/control/control_json.h"
#include "daemon/follow/folder.h"
#include "daemon/follow/watch.h"
#include "daemon/source/source.h"

void control_add_folders(json_t *status, const struct watch *watch) {
    json_t *list = json_array();
    for (const struct folder *folder = watch->folders; list && folder; folder = folder->next) {
        json_array_append_new(list, json_pack("{s:o, s:b, s:I}", "path", control_text(folder->path),
                                              "watched", folder->up, "files",
                                              (json_int_t)folder->names.count));
    }
    json_object_set_new(status, "files", json_integer((json_int_t)watch->follows.count));
    json_object_set_new(status, "folders", list);
}

static json_t *describe(const struct follow *follow) {
    const struct source *source = follow->live ? follow->live->source : NULL;
    const struct nvtxt_counters *counters =
        source ? nvtxt_interp_counters(source->interp) : &follow->counters;
    struct nvtxt_slice display =
        source ? nvtxt_interp_display_name(source->interp) : (struct nvtxt_slice){0};
    return json_pack("{s:I, s:s, s:n, s:o, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:n, s:I, s:I}",
                     "source", (json_int_t)follow->source_id, "kind", "file", "session", "name",
                     control_text(follow->path), "lines", (json_int_t)counters->lines, "events",
                     (json_int_t)counters->events, "warnings", (json_int_t)counters->warnings,
                     "errors", (json_int_t)counters->errors, "display_name",
                     display.len ? json_stringn(display.data, display.len) : json_null(), "pid",
                     (json_int_t)0, "uid", (json_int_t)follow->uid, "gid", (json_int_t)follow->gid,
                     "comm", "opened_ns", (json_int_t)follow->opened_ns, "bytes",
                     (json_int_t)follow->at.offset);
}

void control_add_files(json_t *sources, const struct watch *watch) {
    for (const struct follow *follow = watch->follows.first; follow; follow = follow->next) {
        if (follow->source_id && !follow->ended) {
            json_array_append_new(sources, describe(follow));
        }
    }
}
