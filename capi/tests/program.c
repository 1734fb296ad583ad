/* Predicts by a model and says what it saw: `program check MODEL ROWS ROWS_COUNT COLUMNS`; `memory`
 * in place of `check` loads no drivers, and `time` says how long one row takes. */

#define _POSIX_C_SOURCE 200809L
#include "bochner.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s; last error: %s\n", __LINE__, #condition,                 \
                    bochner_last_error());                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { THREADS = 4, CALLS = 5 };

static void *read_all(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    CHECK(fseek(file, 0, SEEK_END) == 0);
    *length = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*length + 1);
    CHECK(bytes != NULL && fread(bytes, 1, *length, file) == *length);
    fclose(file);
    return bytes;
}

struct work {
    const bochner_model *model;
    const float *x;
    size_t rows, columns, length;
    const double *expected;
};

/* A thread of its own predicts what the first one did, and has errors of its own. */
static void *predict_again(void *argument) {
    const struct work *work = argument;
    double *out = malloc(work->length * sizeof *out);
    CHECK(out != NULL && bochner_last_error()[0] == '\0');
    for (int call = 0; call < CALLS; call++) {
        CHECK(bochner_predict(work->model, work->x, work->rows, work->columns, out,
                              work->length) == BOCHNER_STATUS_OK);
        CHECK(memcmp(out, work->expected, work->length * sizeof *out) == 0);
    }
    CHECK(bochner_predict(NULL, work->x, 1, 1, out, 1) == BOCHNER_STATUS_ARGUMENT);
    CHECK(strstr(bochner_last_error(), "NULL") != NULL);
    free(out);
    return NULL;
}

static void print(const char *name, const double *values, size_t length) {
    printf("%s", name);
    for (size_t i = 0; i < length; i++)
        printf(" %.17g", values[i]);
    printf("\n");
}

static void refuses(const char *path, const bochner_model *model, const float *x, size_t columns) {
    double out[64];
    bochner_model *none = (bochner_model *)out;
    CHECK(bochner_model_load("no such file", "cpu", &none) == BOCHNER_STATUS_IO && none == NULL);
    CHECK(strstr(bochner_last_error(), "no such file") != NULL);
    CHECK(bochner_model_load(NULL, "cpu", &none) == BOCHNER_STATUS_ARGUMENT);
    CHECK(bochner_model_load(path, "cpu", NULL) == BOCHNER_STATUS_ARGUMENT);
    CHECK(bochner_model_load("\xff", "cpu", &none) == BOCHNER_STATUS_ARGUMENT);
    CHECK(bochner_predict(model, x, 1, columns - 1, out, 64) == BOCHNER_STATUS_SHAPE);
    CHECK(bochner_predict(model, x, 1, columns, out, 0) == BOCHNER_STATUS_SHAPE);
    CHECK(bochner_predict(model, x, SIZE_MAX, columns, out, 64) == BOCHNER_STATUS_SHAPE);
    CHECK(bochner_predict(model, NULL, 1, columns, out, 64) == BOCHNER_STATUS_ARGUMENT);
    CHECK(bochner_predict(model, x, 1, columns, NULL, 64) == BOCHNER_STATUS_ARGUMENT);
    CHECK(bochner_predict(model, NULL, 0, columns, NULL, 0) == BOCHNER_STATUS_OK);
    float *bad = malloc(columns * sizeof *bad);
    CHECK(bad != NULL);
    memcpy(bad, x, columns * sizeof *bad);
    bad[columns - 1] = (float)NAN;
    CHECK(bochner_predict(model, bad, 1, columns, out, 64) != BOCHNER_STATUS_OK);
    printf("nan %s\n", bochner_last_error());
    free(bad);
    /* What is not there says so, and frees nothing. */
    CHECK(bochner_model_columns(NULL) == 0 && bochner_model_label(NULL, 0.0) == NULL);
    CHECK(isnan(bochner_model_class(model, 1000)));
    bochner_model_free(NULL);
}

/* `drivers`: whether those of Vulkan are loaded, whose own faults valgrind would find. */
static void check(const char *path, const float *x, size_t rows, size_t columns, int drivers) {
    size_t length;
    unsigned char *bytes = read_all(path, &length);
    bochner_model *model = NULL;
    CHECK(bochner_model_from_bytes(bytes, length / 2, "cpu", &model) == BOCHNER_STATUS_FORMAT);
    CHECK(model == NULL && bochner_last_error()[0] != '\0');
    CHECK(bochner_model_from_bytes(NULL, 0, "cpu", &model) == BOCHNER_STATUS_FORMAT);
    CHECK(bochner_model_from_bytes(bytes, length, "cpu", &model) == BOCHNER_STATUS_OK);
    free(bytes);
    CHECK(bochner_model_columns(model) == columns);

    size_t predictions = rows * bochner_model_predictions(model);
    size_t outputs = rows * bochner_model_outputs(model);
    size_t classes = bochner_model_classes(model);
    double *out = malloc(predictions * sizeof *out);
    double *scores = malloc((outputs + 1) * sizeof *scores);
    CHECK(out != NULL && scores != NULL);
    CHECK(bochner_predict(model, x, rows, columns, out, predictions) == BOCHNER_STATUS_OK);
    print("predictions", out, predictions);
    scores[outputs] = 42.0;
    CHECK(bochner_scores(model, x, rows, columns, scores, outputs) == BOCHNER_STATUS_OK);
    CHECK(scores[outputs] == 42.0);
    print("scores", scores, outputs);
    if (classes > 0) {
        double *p = malloc(rows * classes * sizeof *p);
        CHECK(p != NULL);
        if (bochner_probabilities(model, x, rows, columns, p, rows * classes) == BOCHNER_STATUS_OK)
            print("probabilities", p, rows * classes);
        else
            printf("no probabilities: %s\n", bochner_last_error());
        free(p);
        printf("classes");
        for (size_t k = 0; k < classes; k++)
            printf(" %g", bochner_model_class(model, k));
        printf("\n");
    }
    if (bochner_model_label(model, out[0]) != NULL) {
        printf("labels");
        for (size_t i = 0; i < rows; i++)
            printf(" %s", bochner_model_label(model, out[i]));
        printf("\n");
    }
    refuses(path, model, x, columns);
    if (drivers) {
        bochner_model *none = NULL;
        CHECK(bochner_model_load(path, "no such adapter", &none) == BOCHNER_STATUS_DEVICE);
    }

    struct work work = {model, x, rows, columns, predictions, out};
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, predict_again, &work) == 0);
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);
    bochner_model_free(model);

    CHECK(bochner_model_load(path, "cpu", &model) == BOCHNER_STATUS_OK);
    CHECK(bochner_predict(model, x, rows, columns, scores, outputs) == BOCHNER_STATUS_OK);
    CHECK(memcmp(scores, out, predictions * sizeof *out) == 0);
    bochner_model_free(model);
    free(out);
    free(scores);
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void measure(const char *path, const float *x, size_t rows, size_t columns) {
    bochner_model *model = NULL;
    double out, *times = malloc(rows * sizeof *times);
    CHECK(times != NULL && bochner_model_load(path, "cpu", &model) == BOCHNER_STATUS_OK);
    for (size_t i = 0; i < rows; i++) {
        double begin = now();
        CHECK(bochner_predict(model, x + i * columns, 1, columns, &out, 1) == BOCHNER_STATUS_OK);
        times[i] = now() - begin;
    }
    qsort(times, rows, sizeof *times, by_size);
    printf("%.0f\n", times[rows / 2]);
    bochner_model_free(model);
    free(times);
}

int main(int count, char **arguments) {
    if (count != 6)
        return 2;
    size_t length, rows = strtoul(arguments[4], NULL, 10);
    size_t columns = strtoul(arguments[5], NULL, 10);
    float *x = read_all(arguments[3], &length);
    CHECK(length == rows * columns * sizeof *x);
    CHECK(strlen(bochner_version()) >= 5);
    if (strcmp(arguments[1], "time") == 0)
        measure(arguments[2], x, rows, columns);
    else
        check(arguments[2], x, rows, columns, strcmp(arguments[1], "memory") != 0);
    free(x);
    return 0;
}
