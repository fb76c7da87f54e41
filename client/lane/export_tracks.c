// SPDX-License-Identifier: Apache-2.0
#include "client/lane/export_tracks.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

void export_tracks_deinit(struct export_tracks *tracks) {
    while (tracks->all) {
        struct export_track *next = tracks->all->next;
        free(tracks->all->name);
        free(tracks->all);
        tracks->all = next;
    }
    nvtxt_hash_deinit(&tracks->table);
}

struct export_track *export_tracks_get(struct export_tracks *tracks, uint64_t global_tid,
                                       int lane) {
    uint64_t hash = nvtxt_hash_number(global_tid ^ (uint64_t)(lane + 1) << 48);
    struct export_track *track;
    NVTXT_HASH_FIND(track, node, &tracks->table, hash,
                    track->global_tid == global_tid && track->lane == lane);
    if (track) {
        return track;
    }
    track = calloc(1, sizeof(*track));
    if (!track || nvtxt_hash_add(&tracks->table, &track->node, hash) < 0) {
        free(track);
        return NULL;
    }
    track->global_tid = global_tid;
    track->lane = lane;
    track->next = tracks->all;
    tracks->all = track;
    return track;
}

struct export_track *export_tracks_process(struct export_tracks *tracks, uint64_t global_tid) {
    return export_tracks_get(tracks, global_tid >> 24 << 24, EXPORT_TRACK_PROCESS);
}

int export_track_keep_name(struct export_track *track, struct nvtxt_slice name) {
    if (!track) {
        return nvtxt_origin(-ENOMEM);
    }
    if (track->name || track->is_named || !name.data) {
        return 0;
    }
    track->name = malloc(name.len + 1);
    track->name_len = name.len;
    if (track->name) {
        memcpy(track->name, name.data, name.len);
    }
    return track->name ? 0 : nvtxt_origin(-ENOMEM);
}
