# The entry of every compiled function: what stands at the call address of its object. `call_table.py` makes the tables
# that it reads, `entry_code.py` compiles it once, and `entry.ll` begins it. Addresses and objects are integers.
#
# It reads exact arguments where they are, finds and compares sizes, makes results or takes those of `out=`, calls the
# machine code, and nests results. Whatever is not exact (another type or layout, an unknown keyword, a wrong size, a
# fault) is for the function in Python at `slow`, which converts or raises: here nothing raises by itself.
#
# ruff: noqa: F821, SIM110 - functions that are not here are those of Python and NumPy, and of `entry.ll`


def entry(self, args, flagged, keywords, own, words, sizes, arguments, steps, results, nodes):
    positional, count = flagged & 0x7FFFFFFFFFFFFFFF, arguments.shape[0]
    found, made = words + 8 * sizes[0], words + 8 * sizes[1]
    things, spans = words + 8 * sizes[2], words + 8 * sizes[3]
    base = args
    out = 0
    if word(own, 4) != 0 or keywords != 0 or positional != count:
        if not is_gathered(args, positional, keywords, word(own, 4), word(own, 5), found, count):
            return called_slowly(self, args, positional, keywords, word(own, 3))
        base = found
        out = word(found, count)
        if out == the_None():
            out = 0
    entries = read_arguments(base, words, arguments)
    if entries < 0:
        return called_slowly(self, args, positional, keywords, word(own, 3))
    if nodes.shape[0] == 0:
        return status_of(self, own, words, entries)
    added = read_sizes(words, steps, results)
    if added < 0:
        return called_slowly(self, args, positional, keywords, word(own, 3))
    for k in range(sizes[2] - sizes[1]):
        put(made, k, 0)
    if out == 0:
        is_ready = are_made(words, made, results)
    else:
        is_ready = are_taken(out, words, made, things, spans, arguments, results, nodes)
    if is_ready and run(own, words, entries + added) == 0 and word(words, 0) == 0:
        whole = nested(words, made, results, nodes)
        if whole != 0:
            return whole
    for k in range(sizes[2] - sizes[1]):
        if word(made, k) != 0:
            Py_DecRef(word(made, k))
    return called_slowly(self, args, positional, keywords, word(own, 3))


def called_slowly(self, args, positional, keywords, slow):
    """Call the Python function with the object itself and all arguments.

    Their row is on the heap: a call can have millions of arguments, and a thread a stack of a few pages.
    """
    count = positional
    if keywords != 0:
        count = positional + PyTuple_Size(keywords)
    row = PyMem_Malloc(8 * (count + 1))
    if row == 0:
        return PyErr_NoMemory()
    put(row, 0, self)
    for k in range(count):
        put(row, k + 1, word(args, k))
    found = PyObject_Vectorcall(slow, row, positional + 1, keywords)
    PyMem_Free(row)
    return found


def run(own, words, entries):
    """Call the machine code; return 0 unless it raised. Its status is then the first word, its exception the second."""
    put(words, 0, word(own, 2))
    if entries > 2048:  # other threads may run meanwhile; to say so takes 30 ns
        thread = PyEval_SaveThread()
        raised = call(word(own, 1), words)
        PyEval_RestoreThread(thread)
        return raised
    return call(word(own, 1), words)


def status_of(self, own, words, entries):
    """Return the status of a function whose results are arguments.

    What it raises is for the function in Python, which knows it by the object itself as an argument.
    """
    if run(own, words, entries) == 0:
        return PyLong_FromLongLong(word(words, 0))
    fault = PyLong_FromLongLong(word(words, 1))
    put(words, 0, self)
    put(words, 1, self)
    put(words, 2, fault)
    found = PyObject_Vectorcall(word(own, 3), words, 3, 0)
    Py_DecRef(fault)
    return found


# --- arguments


def is_gathered(args, positional, keywords, given, names, found, count):
    """Fill the table of arguments: what is fixed, then what is given in order, then by name; last comes `out`."""
    taken = 0
    for k in range(count):
        thing = 0
        if given != 0:
            thing = word(given, k)
        if thing == 0 and taken < positional:
            thing = word(args, taken)
            taken += 1
        put(found, k, thing)
    put(found, count, 0)
    if taken != positional:
        return False
    if keywords != 0:
        if names == 0:
            return False
        for j in range(PyTuple_Size(keywords)):
            place = place_of(PyTuple_GetItem(keywords, j), names, count)
            if place > count or word(found, place) != 0:
                return False
            put(found, place, word(args, positional + j))
    for k in range(count):
        if word(found, k) == 0:
            return False
    return True


def place_of(name, names, count):
    place = 0
    while place <= count and word(names, place) != name:
        place += 1
    return place


def read_arguments(base, words, arguments):
    """Write what machine code takes into the words: numbers, addresses and lengths. Return how many entries arrays
    have; -1 unless all arguments are exact."""
    at = 3
    total = 0
    for k in range(arguments.shape[0]):
        thing = word(base, k)
        rank = arguments[k, 0]
        if rank > 0:
            if not is_exact(thing, rank, arguments[k, 1], arguments[k, 2]):
                return -1
            shape = Array_shape(thing)
            put(words, at, Array_data(thing))
            entries = 1
            for axis in range(rank):
                length = word(shape, axis)
                put(words, at + 1 + axis, length)
                entries *= length
            total += entries
        elif arguments[k, 1] == double():
            if not is_real(thing, words, at):
                return -1
        elif not is_integer(thing, words, at):
            return -1
        at += rank + 1
    return total


def is_exact(thing, rank, number, flags):
    """Whether an object is an array of NumPy's own class with this rank, number of its type, and flags."""
    if Object_kind(thing) != the_ndarray() or Array_rank(thing) != rank or Array_flags(thing) & flags != flags:
        return False
    dtype = Array_dtype(thing)
    return Dtype_number(dtype) == number and Dtype_order(dtype) != swapped()


def is_real(thing, words, at):
    kind = Object_kind(thing)
    if kind != the_float() and kind != the_np_float64() and kind != the_int():
        return False
    value = PyFloat_AsDouble(thing)
    if value == -1.0 and PyErr_Occurred() != 0:
        PyErr_Clear()
        return False
    put_real(words, at, value)
    return True


def is_integer(thing, words, at):
    if Object_kind(thing) != the_int():
        return False
    value = PyLong_AsLongLong(thing)
    if value == -1 and PyErr_Occurred() != 0:
        PyErr_Clear()
        return False
    put(words, at, value)
    return True


# --- sizes


def read_sizes(words, steps, results):
    """Find the sizes and the lengths of results, step by step; return how many entries results have, -1 if a size does
    not fit or 64 bits do not hold it."""
    put(words, 2, 0)
    for k in range(steps.shape[0]):
        step = steps[k, 0]
        a = word(words, steps[k, 1])
        b = word(words, steps[k, 2])
        value = a
        if step == 0:
            if a != b:
                return -1
        elif step == 1:
            if a < b:
                return -1
        elif step == 2:
            value = steps[k, 4]
        elif step == 3:
            value = a + b
            if (a ^ value) & (b ^ value) < 0:
                return -1
        elif step == 4:
            value = a - b
            if (a ^ b) & (a ^ value) < 0:
                return -1
        elif step == 5:
            value = product(a, b)
            if value == -1:
                return -1
        elif step == 6:
            value = a // b
        elif step == 7:
            value = a % b
        elif step == 8:
            value = min(a, b)
        elif step == 9:
            value = max(a, b)
        put(words, steps[k, 3], value)
    total = 0
    for k in range(results.shape[0]):
        entries = entries_of(words, results[k, 1], results[k, 0])
        if entries < 0:
            return -1
        total += entries
    return total


def entries_of(words, at, rank):
    """Return the number of entries of an array, whose lengths follow its address; -1 if 64 bits do not hold it."""
    entries = 1
    for axis in range(rank):
        length = word(words, at + 1 + axis)
        if length < 0:
            return -1
        entries = product(entries, length)
        if entries < 0:
            return -1
    return entries


# --- results


def is_number(words, at, value_at):
    """Let the result be an array of one entry, which stands among the words."""
    put(words, value_at, 0)
    put(words, at, words + 8 * value_at)
    put(words, at + 1, 1)
    return True


def are_made(words, made, results):
    """Make the arrays of results; False where there is no memory, which the function in Python says."""
    for k in range(results.shape[0]):
        rank, at = results[k, 0], results[k, 1]
        if rank == 0:
            is_number(words, at, results[k, 3])
        else:
            Py_IncRef(the_float64())
            if results[k, 2] != 0:
                array = blank(rank, words + 8 * (at + 1), the_float64(), 0)
            else:
                array = empty(rank, words + 8 * (at + 1), the_float64(), 0)
            if array == 0:
                PyErr_Clear()
                return False
            put(made, k, array)
            put(words, at, Array_data(array))
    return True


def are_taken(out, words, made, things, spans, arguments, results, nodes):
    """Take the arrays of `out`; False unless they are exact and share no memory with arguments or one another."""
    if not is_unnested(out, things, nodes):
        return False
    count = write_spans(words, spans, arguments)
    for k in range(results.shape[0]):
        rank, at, thing = results[k, 0], results[k, 1], word(things, k)
        if rank == 0:
            if thing != the_None():
                return False
            is_number(words, at, results[k, 3])
        else:
            if not is_exact(thing, rank, double(), writable()):
                return False
            shape = Array_shape(thing)
            for axis in range(rank):
                if word(shape, axis) != word(words, at + 1 + axis):
                    return False
            put(words, at, Array_data(thing))
            if not is_apart(spans, count, Array_data(thing), Array_data(thing) + 8 * entries_of(words, at, rank)):
                return False
            count += 1
    for k in range(results.shape[0]):
        rank, at = results[k, 0], results[k, 1]
        if rank > 0:
            Py_IncRef(word(things, k))
            put(made, k, word(things, k))
            if results[k, 2] != 0:
                clear(word(words, at), 8 * entries_of(words, at, rank))
    return True


def is_unnested(out, things, nodes):
    """Write the parts of `out` into a table; False unless they are nested as the results."""
    for k in range(nodes.shape[0]):
        thing = out
        if nodes[k, 1] >= 0:
            thing = PyTuple_GetItem(word(things, nodes[k, 1]), nodes[k, 2])
        if nodes[k, 3] >= 0 and (Object_kind(thing) != the_tuple() or PyTuple_Size(thing) != nodes[k, 3]):
            return False
        put(things, nodes[k, 0], thing)
    return True


def write_spans(words, spans, arguments):
    """Write where the arrays of arguments begin and end; return how many there are."""
    at = 3
    count = 0
    for k in range(arguments.shape[0]):
        rank = arguments[k, 0]
        if rank > 0:
            put(spans, 2 * count, word(words, at))
            put(spans, 2 * count + 1, word(words, at) + arguments[k, 3] * entries_of(words, at, rank))
            count += 1
        at += rank + 1
    return count


def is_apart(spans, count, start, end):
    """Whether memory lies apart from all spans; it becomes the next one."""
    for k in range(count):
        first, last = word(spans, 2 * k), word(spans, 2 * k + 1)
        if start < last and first < end and start != end and first != last:
            return False
    put(spans, 2 * count, start)
    put(spans, 2 * count + 1, end)
    return True


def nested(words, made, results, nodes):
    """Return floats and arrays, nested; 0 where there is no memory. Tuples are made before any is filled."""
    for k in range(results.shape[0]):
        if results[k, 0] == 0:
            number = PyFloat_FromDouble(real(words, results[k, 3]))
            put(made, k, number)
            if number == 0:
                PyErr_Clear()
                return 0
    for k in range(nodes.shape[0]):
        if nodes[k, 3] >= 0:
            row = PyTuple_New(nodes[k, 3])
            put(made, nodes[k, 0], row)
            if row == 0:
                PyErr_Clear()
                return 0
    for k in range(1, nodes.shape[0]):
        PyTuple_SetItem(word(made, nodes[k, 1]), nodes[k, 2], word(made, nodes[k, 0]))
    return word(made, nodes[0, 0])
