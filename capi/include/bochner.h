/* bochner: predictions of fitted models, from C. docs/c.md has an example.
 *
 * Made by `cargo xtask header` from capi/src; edit that. */

#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 What became of a call.
 */
typedef enum bochner_status {
  /*
   It did what it was asked to.
   */
  BOCHNER_STATUS_OK = 0,
  /*
   An argument is NULL, or outside its domain.
   */
  BOCHNER_STATUS_ARGUMENT = 1,
  /*
   Rows, columns or the room for results do not have the shape that is needed.
   */
  BOCHNER_STATUS_SHAPE = 2,
  /*
   The model cannot do this.
   */
  BOCHNER_STATUS_UNSUPPORTED = 3,
  /*
   Something that is needed is not there.
   */
  BOCHNER_STATUS_MISSING = 4,
  /*
   The bytes are no model: truncated, foreign, damaged, or of a later version.
   */
  BOCHNER_STATUS_FORMAT = 5,
  /*
   A file could not be read.
   */
  BOCHNER_STATUS_IO = 6,
  /*
   There is no such device, or it failed.
   */
  BOCHNER_STATUS_DEVICE = 7,
  /*
   The host or the device has no room.
   */
  BOCHNER_STATUS_MEMORY = 8,
  /*
   Values that are not finite, in or out.
   */
  BOCHNER_STATUS_NUMERICAL = 9,
  /*
   A fault of this library.
   */
  BOCHNER_STATUS_INTERNAL = 10,
} bochner_status;

/*
 A fitted model on a device.
 */
typedef struct bochner_model bochner_model;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Reads a model from a file and loads it on a device: "cpu", "gpu", "auto" (a GPU if there is one
 that is no software renderer, else the CPU; also what NULL means), or part of an adapter's name.
 On success `*model` is to be freed by `bochner_model_free`; else it is NULL.

 # Safety
 `path` and `device` are NULL or end in a zero byte; `model` is NULL or can be written to.
 */
enum bochner_status bochner_model_load(const char *path,
                                       const char *device,
                                       struct bochner_model **model);

/*
 As `bochner_model_load`, of a model file's `length` bytes in memory, which may be freed after
 the call.

 # Safety
 `bytes` is NULL or points to `length` bytes; `device` and `model` as for `bochner_model_load`.
 */
enum bochner_status bochner_model_from_bytes(const uint8_t *bytes,
                                             size_t length,
                                             const char *device,
                                             struct bochner_model **model);

/*
 Frees a model, which no other thread may be using. NULL is nothing to free.

 # Safety
 `model` is NULL, or of `bochner_model_load` or `bochner_model_from_bytes` and not yet freed.
 */
void bochner_model_free(struct bochner_model *model);

/*
 Columns of a row that the model takes; 0 if `model` is NULL.

 # Safety
 `model` is NULL or a model that is not yet freed, as for all functions below.
 */
size_t bochner_model_columns(const struct bochner_model *model);

/*
 Numbers that `bochner_predict` writes for a row: 1 for a classifier, else one for each target.

 # Safety
 As for `bochner_model_columns`.
 */
size_t bochner_model_predictions(const struct bochner_model *model);

/*
 Numbers that `bochner_scores` writes for a row: one for each class or target.

 # Safety
 As for `bochner_model_columns`.
 */
size_t bochner_model_outputs(const struct bochner_model *model);

/*
 Classes of a classifier; 0 for other models.

 # Safety
 As for `bochner_model_columns`.
 */
size_t bochner_model_classes(const struct bochner_model *model);

/*
 What `bochner_predict` writes for the class whose scores and probabilities stand at `index` in a
 row; NaN where there is none.

 # Safety
 As for `bochner_model_columns`.
 */
double bochner_model_class(const struct bochner_model *model, size_t index);

/*
 The text that a prediction stands for, where the labels of a classifier are text; NULL where
 they are the numbers themselves. It lives as long as the model.

 # Safety
 As for `bochner_model_columns`.
 */
const char *bochner_model_label(const struct bochner_model *model, double prediction);

/*
 Predicts `rows` rows of `columns` numbers each, one row after the other in `x`, and writes
 `rows` times `bochner_model_predictions` numbers to `out`, which has room for `length`: values,
 or for a classifier the number of the class. Any number of threads may predict by one model at
 once.

 # Safety
 `x` points to `rows` times `columns` floats, `out` to `length` doubles that nobody else uses
 meanwhile, and `model` is as for `bochner_model_columns`.
 */
enum bochner_status bochner_predict(const struct bochner_model *model,
                                    const float *x,
                                    size_t rows,
                                    size_t columns,
                                    double *out,
                                    size_t length);

/*
 As `bochner_predict`, with the raw scores of all classes, or the values of all targets before
 what the model makes of them: `bochner_model_outputs` numbers a row.

 # Safety
 As for `bochner_predict`.
 */
enum bochner_status bochner_scores(const struct bochner_model *model,
                                   const float *x,
                                   size_t rows,
                                   size_t columns,
                                   double *out,
                                   size_t length);

/*
 As `bochner_predict`, with the probabilities of all classes: `bochner_model_classes` numbers a
 row, of sum 1. Fails with `BOCHNER_STATUS_UNSUPPORTED` or `BOCHNER_STATUS_MISSING` if the model
 was fitted without.

 # Safety
 As for `bochner_predict`.
 */
enum bochner_status bochner_probabilities(const struct bochner_model *model,
                                          const float *x,
                                          size_t rows,
                                          size_t columns,
                                          double *out,
                                          size_t length);

/*
 What went wrong in the last call of this thread that failed, in one line of UTF-8; empty if none
 did. It lives until the thread's next call that fails.
 */
const char *bochner_last_error(void);

/*
 The version of this library, such as "0.1.0".
 */
const char *bochner_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
