/* Functions in C for words of Python: a file contains those that it calls. */

static int trans(int64_t letter) { return letter == 'N' ? CblasNoTrans : CblasTrans; }

static int uplo(int64_t letter) { return letter == 'U' ? CblasUpper : CblasLower; }

static int side(int64_t letter) { return letter == 'L' ? CblasLeft : CblasRight; }

static int diag(int64_t letter) { return letter == 'U' ? CblasUnit : CblasNonUnit; }

static int64_t quotient(int64_t a, int64_t b) { return a/b - ((a%b != 0) & ((a < 0) != (b < 0))); }

static int64_t modulo(int64_t a, int64_t b) { return a - b*quotient(a, b); }

static double modulo_double(double a, double b)
{
    double r = fmod(a, b);
    return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}

static int64_t least(int64_t a, int64_t b) { return b < a ? b : a; }

static int64_t most(int64_t a, int64_t b) { return b > a ? b : a; }

static double least_double(double a, double b) { return b < a ? b : a; }

static double most_double(double a, double b) { return b > a ? b : a; }

static int64_t magnitude(int64_t a) { return a < 0 ? -a : a; }

static double softplus(double x)
{
    return isnan(x) ? x : most_double(x, 0.0) + log1p(exp(-fabs(x)));
}

/* An integer in the order of double, and the inverse. */
static int64_t ordered(double x)
{
    int64_t k;
    memcpy(&k, &x, sizeof k);
    return k < 0 ? k ^ INT64_MAX : k;
}

static double from_ordered(int64_t k)
{
    const int64_t back = k < 0 ? k ^ INT64_MAX : k;
    double x;
    memcpy(&x, &back, sizeof x);
    return x;
}

static int64_t exponent(double x)
{
    int k = 0;
    frexp(x, &k);
    return k;
}

/* The logarithmic derivative of gamma: Boost's rational function on [1, 2] (John Maddock, Boost Software License), with
   the zero as a factor; the recurrence below 10, the asymptotic series above, the reflection for negative x. */
static double digamma(double x)
{
    const double P[] = {0.25479851061131551, -0.32555031186804491, -0.65031853770896507, -0.28919126444774784,
                        -0.045251321448739056, -0.0020713321167745952};
    const double Q[] = {1.0, 2.0767117023730469, 1.4606242909763515, 0.43593529692665969, 0.054151797245674225,
                        0.0021284987017821144, -0.55789841321675513e-6};
    double sum = 0.0, p = 0.0, q = 0.0;
    if (x == 0.0) {
        return copysign(INFINITY, -x);
    }
    if (x < 0.0) {
        double part = x - floor(x);
        if (part == 0.0 || isnan(part)) {
            return NAN;
        }
        part = part > 0.5 ? part - 1.0 : part;
        sum = part == 0.5 ? 0.0 : -3.141592653589793/tan(3.141592653589793*part);
        x = 1.0 - x;
    }
    if (x >= 10.0) {
        double z = 1.0/(x*x);
        double tail = z*(1.0/252.0 - z*(1.0/240.0 - z*(1.0/132.0 - z*(691.0/32760.0 - z/12.0))));
        return isinf(x) ? x : sum + log(x) - 0.5/x - z*(1.0/12.0 - z*(1.0/120.0 - tail));
    }
    while (x > 2.0) {
        x -= 1.0;
        sum += 1.0/x;
    }
    while (x < 1.0) {
        sum -= 1.0/x;
        x += 1.0;
    }
    double g = ((x - 1569415565.0/1073741824.0) - 381566830.0/1073741824.0/1073741824.0) - 9.016312093258695918e-20;
    for (int k = 5; k >= 0; k--) {
        p = p*(x - 1.0) + P[k];
    }
    for (int k = 6; k >= 0; k--) {
        q = q*(x - 1.0) + Q[k];
    }
    return sum + (g*0.99558162689208984375 + g*(p/q));
}

/* The derivative of digamma: the recurrence below 12, then the asymptotic series (DLMF 5.15.8). */
static double trigamma(double x)
{
    double sum = 0.0;
    if (x <= 0.0 && x == floor(x)) {
        return INFINITY;
    }
    if (isnan(x) || x < -1e4) {
        return NAN;
    }
    while (x < 12.0) {
        sum += 1.0/(x*x);
        x += 1.0;
    }
    double z = 1.0/(x*x);
    double tail = z*(1.0/42.0 - z*(1.0/30.0 - z*(5.0/66.0 - z*(691.0/2730.0 - z*7.0/6.0))));
    return sum + (1.0/x + z*(0.5 + (1.0/6.0 - z*(1.0/30.0 - tail))/x));
}

/* log(gamma(x)) minus Stirling's (x - 1/2)*log(x) - x + log(2*pi)/2, for x >= 10. */
static double stirling_rest(double x)
{
    double u = 1.0/(x*x);
    double tail = 1.0/1680.0 - u*(1.0/1188.0 - u*(691.0/360360.0 - u/156.0));
    return (1.0/12.0 - u*(1.0/360.0 - u*(1.0/1260.0 - u*tail)))/x;
}

/* The logarithm of the beta function of positive arguments; large ones by Stirling's formula. */
static double log_beta(double a, double b)
{
    if (!(a >= 0.0 && b >= 0.0)) {
        return NAN;
    }
    double low = a < b ? a : b, high = a < b ? b : a;
    if (isinf(high)) {
        return low == 0.0 ? NAN : -INFINITY;
    }
    if (low == 0.0) {
        return INFINITY;
    }
    double n = low + high;
    if (high < 10.0) {
        return lgamma(low) + lgamma(high) - lgamma(n);
    }
    double r = (high - 0.5)*log1p(low/high);
    if (low < 10.0) {
        return lgamma(low) - r - low*log(n) + low - (stirling_rest(n) - stirling_rest(high));
    }
    double ratio = low/high, middle = low*(log(ratio) - log1p(ratio)) - r;
    return 0.5*log(6.283185307179586/low) + middle + stirling_rest(low) + stirling_rest(high) - stirling_rest(n);
}
