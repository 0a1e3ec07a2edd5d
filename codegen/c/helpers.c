/* Functions of C for words of Python: each is written into a file where it is called. */

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

static int64_t exponent(double x)
{
    int k = 0;
    frexp(x, &k);
    return k;
}
