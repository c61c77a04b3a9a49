/* SPDX-License-Identifier: Apache-2.0
 *
 * Where following goes on after a broken connection.
 */
#include "resume.h"

#include <stdlib.h>

#define MAX_SOURCES (1u << 20)

/* A source of the running session. */
struct resume_source {
    struct source_desc latest;   /* as announced last; no path: not known */
    struct source_desc position; /* the file and offset to go on from */
    bool has_state;              /* of the plugin, behind the next lines */
    uint8_t state_len;
    uint8_t state[DT_STATE_MAX];
};

void
resume_fini(struct resume *r)
{
    for (size_t i = 0; i < r->nr_sources; i++) {
        source_desc_fini(&r->sources[i].latest);
        source_desc_fini(&r->sources[i].position);
    }
    free(r->sources);
    for (size_t i = 0; i < r->nr_positions; i++) {
        source_desc_fini(&r->positions[i]);
    }
    free(r->positions);
    *r = (struct resume){0};
}

static int
replace(struct source_desc *to, const struct source_desc *from)
{
    struct source_desc copy;
    int rc = source_desc_copy(&copy, from);

    if (rc == DT_OK) {
        source_desc_fini(to);
        *to = copy;
    }
    return rc;
}

static struct resume_source *
source_at(struct resume *r, uint32_t id)
{
    struct resume_source *v;
    size_t nr = (size_t)id + 1;

    if (nr <= r->nr_sources) {
        return &r->sources[id];
    }
    if (nr > MAX_SOURCES) {
        return NULL;
    }
    v = reallocarray(r->sources, nr, sizeof(*v));
    if (!v) {
        return NULL;
    }
    memset(v + r->nr_sources, 0, (nr - r->nr_sources) * sizeof(*v));
    r->sources = v;
    r->nr_sources = nr;
    return &v[id];
}

/* The place of a path among the positions of earlier sessions; NULL: none. */
static struct source_desc *
find_position(struct resume *r, const char *path)
{
    for (size_t i = 0; i < r->nr_positions; i++) {
        if (r->positions[i].path && strcmp(r->positions[i].path, path) == 0) {
            return &r->positions[i];
        }
    }
    return NULL;
}

/* A source that goes on does so in the state that it was in. */
static int
keep_state(struct resume *r, struct source_desc *position)
{
    const struct source_desc *old = find_position(r, position->path);

    return old ? source_desc_set_state(position, old->state, old->state_len)
               : DT_OK;
}

/* Moves a place on to another file, or to the same that is known better. */
static int
move_position(struct source_desc *to, const struct source_desc *file,
              uint64_t offset)
{
    struct source_desc copy;
    int rc = source_desc_copy(&copy, file);

    if (rc == DT_OK) {
        rc = source_desc_set_state(&copy, to->state, to->state_len);
    }
    if (rc != DT_OK) {
        source_desc_fini(&copy);
        return rc;
    }
    copy.offset = offset;
    source_desc_fini(to);
    *to = copy;
    return DT_OK;
}

/* A source has a file: the first, another, or the same that is known better. */
static int
on_source(struct resume *r, const struct wire_frame *f)
{
    struct resume_source *s;
    struct source_desc d = {0};
    struct error err = ERROR_INIT;
    int rc = DT_OK;

    if (source_desc_parse(f->data, f->len, &d, &err) != DT_OK || !d.path) {
        source_desc_fini(&d);
        return DT_OK; /* not followed; what is broken is told elsewhere */
    }
    s = source_at(r, f->source);
    if (!s) {
        rc = DT_ERR_NOMEM;
    } else if (!s->position.path) {
        rc = replace(&s->position, &d);
        rc = rc == DT_OK ? keep_state(r, &s->position) : rc;
    } else if (s->position.generation == d.generation) {
        rc = move_position(&s->position, &d, s->position.offset);
    }
    if (rc == DT_OK) {
        rc = replace(&s->latest, &d);
    }
    source_desc_fini(&d);
    return rc;
}

/* It holds once the lines behind it have been printed. */
static void
on_state(struct resume *r, const struct wire_frame *f)
{
    struct resume_source *s;

    if (f->source >= r->nr_sources || f->len > DT_STATE_MAX) {
        return;
    }
    s = &r->sources[f->source];
    s->has_state = true;
    s->state_len = (uint8_t)f->len;
    memcpy(s->state, f->data, f->len);
}

static int
on_lines(struct resume *r, const struct wire_frame *f)
{
    struct resume_source *s;
    int rc = DT_OK;

    if (f->source >= r->nr_sources || !r->sources[f->source].latest.path) {
        return DT_OK;
    }
    s = &r->sources[f->source];
    if (s->has_state) {
        rc = source_desc_set_state(&s->position, s->state, s->state_len);
        s->has_state = false;
    }
    if (rc == DT_OK && f->generation == s->position.generation) {
        s->position.offset = f->offset;
    } else if (rc == DT_OK && f->generation == s->latest.generation) {
        rc = move_position(&s->position, &s->latest, f->offset);
    }
    /* else a late line of a file that others have followed */
    return rc;
}

int
resume_frame(struct resume *r, const struct wire_frame *f)
{
    switch (f->type) {
    case WIRE_S_SOURCE:
        return on_source(r, f);
    case WIRE_S_LINES:
        return on_lines(r, f);
    case WIRE_S_STATE:
        on_state(r, f);
        return DT_OK;
    case WIRE_S_PROGRESS:
        r->is_settled = true;
        return DT_OK;
    default:
        return DT_OK;
    }
}

/* The same; it is made if there is none yet. NULL: out of memory. */
static struct source_desc *
position_of(struct resume *r, const char *path)
{
    struct source_desc *v = find_position(r, path);

    if (v) {
        return v;
    }
    v = reallocarray(r->positions, r->nr_positions + 1, sizeof(*v));
    if (!v) {
        return NULL;
    }
    r->positions = v;
    v[r->nr_positions] = (struct source_desc){0};
    return &v[r->nr_positions++];
}

int
resume_end_session(struct resume *r)
{
    for (size_t i = 0; i < r->nr_sources; i++) {
        struct resume_source *s = &r->sources[i];

        if (s->position.path) {
            struct source_desc *at = position_of(r, s->position.path);

            if (!at) {
                return DT_ERR_NOMEM;
            }
            source_desc_fini(at);
            *at = s->position; /* moved */
            s->position = (struct source_desc){0};
        }
        source_desc_fini(&s->latest);
    }
    r->nr_sources = 0;
    return DT_OK;
}

int
resume_apply(const struct resume *r, struct query_spec *spec)
{
    int rc = DT_OK;

    for (size_t i = 0; i < r->nr_positions && rc == DT_OK; i++) {
        rc = query_spec_add_resume(spec, &r->positions[i]);
    }
    if (r->is_settled) {
        /* a path that was not there before is new from its first byte */
        spec->from_start = true;
        spec->last_lines = 0;
    }
    return rc;
}
