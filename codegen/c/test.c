typedef struct {
    void **data;                    /* the arguments of all functions */
    double **results;               /* and their results */
    const int64_t *lengths, *sizes; /* entries of each result; sizes by name */
    int data_count, result_count, number;
} test_case;

typedef int test_run(void **data, double **results, const int64_t *sizes);

/* A result is the derivative of another, `of`, in arguments: along tangents, or in each entry. */
typedef struct {
    const char *result, *of, *in;
    test_run *run;
    int result_slot, of_slot, moving, is_along;
    const int *slots;
    const int64_t *lengths;
    const double *const *tangents; /* by argument: row by row; NULL for derivatives in each entry */
} test_slope;

static int test_faults = 0;

static double test_magnitude(const double *x, int64_t count)
{
    double most = 0.0;
    for (int64_t k = 0; k < count; k++) {
        most = fabs(x[k]) > most ? fabs(x[k]) : most;
    }
    return most;
}

/* Fill memory with NaN, so that reading it before writing is noticed. */
static void test_clear(double *x, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        x[k] = NAN;
    }
}

static double *test_memory(int64_t count)
{
    double *made = malloc(sizeof(double)*(size_t)(count + 1));
    if (made == NULL) {
        printf("there is no memory for the test\n");
        exit(1);
    }
    test_clear(made, count + 1);
    return made;
}

/* Report where two lists of numbers differ most; entry k is printed as first + k*stride. */
static void test_compare(const char *name, int64_t first, int64_t stride, const double *got, const double *want,
                         int64_t count, double tolerance, const char *said, int number)
{
    int64_t at = -1;
    double worst = tolerance;
    for (int64_t k = 0; k < count; k++) {
        double gap = got[k] == want[k] || (isnan(got[k]) && isnan(want[k])) ? 0.0 : fabs(got[k] - want[k]);
        if (!(gap <= worst)) {
            worst = isnan(gap) ? INFINITY : gap;
            at = k;
        }
    }
    if (at >= 0) {
        printf("entry %lld of %s is %.17g, and %s %.17g (case %d)\n", (long long)(first + at*stride), name, got[at], said,
               want[at], number);
        test_faults++;
    }
}

static void test_values(const test_case *c, int slot, const char *name, const double *want)
{
    double tolerance = 1e-9*(1e-3 + test_magnitude(want, c->lengths[slot]));
    test_compare(name, 0, 1, c->results[slot], want, c->lengths[slot], tolerance, "by its formula", c->number);
}

/* Return entry k of tangent j of an argument. */
static double test_tangent(const test_slope *s, int a, int64_t j, int64_t k)
{
    if (s->tangents[a] == NULL) {
        return j == k ? 1.0 : 0.0;
    }
    return s->tangents[a][s->is_along ? k : j*s->lengths[a] + k];
}

/* Run the differentiated function with its arguments moved by a step along tangent j. */
static void test_moved(const test_case *c, const test_slope *s, int64_t j, double step, double *found)
{
    void **data = malloc(sizeof(void *)*(size_t)(c->data_count + 1));
    double **results = malloc(sizeof(double *)*(size_t)(c->result_count + 1));
    if (data == NULL || results == NULL) {
        exit(1);
    }
    memcpy(data, c->data, sizeof(void *)*(size_t)c->data_count);
    for (int k = 0; k < c->result_count; k++) {
        results[k] = test_memory(c->lengths[k]);
    }
    for (int a = 0; a < s->moving; a++) {
        double *x = test_memory(s->lengths[a]);
        for (int64_t k = 0; k < s->lengths[a]; k++) {
            x[k] = ((double *)c->data[s->slots[a]])[k] + step*test_tangent(s, a, j, k);
        }
        data[s->slots[a]] = x;
    }
    int status = s->run(data, results, c->sizes);
    for (int64_t k = 0; k < c->lengths[s->of_slot]; k++) {
        found[k] = status == 0 ? results[s->of_slot][k] : NAN;
    }
    for (int a = 0; a < s->moving; a++) {
        free(data[s->slots[a]]);
    }
    for (int k = 0; k < c->result_count; k++) {
        free(results[k]);
    }
    free(results);
    free(data);
}

/* Compare a derivative with difference quotients; for each the best of several steps counts. */
static void test_slopes(const test_case *c, const test_slope *s)
{
    int64_t count = c->lengths[s->of_slot], rows = s->is_along ? 1 : s->lengths[0];
    const double *whole = c->results[s->result_slot];
    double tolerance = 1e-5*(1e-3 + test_magnitude(whole, c->lengths[s->result_slot]));
    tolerance += 1e-8*test_magnitude(c->results[s->of_slot], count);
    double *claimed = test_memory(count), *ahead = test_memory(count), *behind = test_memory(count);
    double *best = test_memory(count);
    for (int64_t j = 0; j < rows; j++) {
        for (int64_t i = 0; i < count; i++) {
            claimed[i] = s->is_along ? whole[i] : 0.0;
            for (int64_t k = 0; k < (s->is_along ? 0 : rows); k++) {
                claimed[i] += whole[i*rows + k]*test_tangent(s, 0, j, k);
            }
        }
        double least = INFINITY, best_step = 1e-3, step = 1e-3;
        for (int n = 0; n < 4; n++, step /= 10.0) {
            test_moved(c, s, j, step, ahead);
            test_moved(c, s, j, -step, behind);
            double error = 0.0;
            for (int64_t i = 0; i < count; i++) {
                ahead[i] = (ahead[i] - behind[i])/(2.0*step);
                double gap = fabs(ahead[i] - claimed[i]);
                error = gap <= error ? error : (isnan(gap) ? INFINITY : gap);
            }
            if (n == 0 || error < least) {
                least = error;
                best_step = step;
                memcpy(best, ahead, sizeof(double)*(size_t)count);
            }
        }
        char said[400];
        snprintf(said, sizeof said, "the difference quotient of %.120s in %.120s with step %g is", s->of, s->in, best_step);
        test_compare(s->result, s->is_along ? 0 : j, s->is_along ? 1 : rows, claimed, best, count, tolerance, said,
                     c->number);
    }
    free(claimed);
    free(ahead);
    free(behind);
    free(best);
}
