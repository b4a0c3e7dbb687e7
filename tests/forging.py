"""Models as an attacker would write them (docs/FORMAT.md): for tests, in the folder of which this
is.

Anyone who can write a file can also write matching hashes, so no function here breaks a hash.
"""
import hashlib
import struct

HEADER, RECORD, SEAL, ALIGNMENT, PARTS = 64, 64, 64, 64, 16
(WORD_STARTS, WORD_BYTES, WORD_TABLE, VECTORS, MATRIX, LIST_STARTS, LISTS, BOUNDS) = range(1, 9)
INFINITE = 2 ** 32 - 1
ONE = 2 ** 16  # a distance of 1


def blake(data):
    return hashlib.blake2b(data, digest_size=32).digest()


def sections_of(data):
    """The header of a model file, and its sections by kind."""
    count, = struct.unpack_from("<I", data, 56)
    found = {}
    for i in range(count):
        kind, _, offset, size = struct.unpack_from("<IIQQ", data, HEADER + RECORD * i)
        found[kind] = bytes(data[offset:offset + size])
    return bytearray(data[:HEADER]), found


def seal(header, sections):
    """The file with this header and these sections, and correct hashes."""
    table, body = b"", b""
    start = HEADER + RECORD * len(sections) + SEAL
    for kind in sorted(sections):
        content = sections[kind]
        table += struct.pack("<IIQQ32sQ", kind, 0, start + len(body), len(content),
                             blake(content), 0)
        body += content + bytes(-len(content) % ALIGNMENT)
    struct.pack_into("<IQ", header, 12, start, start + len(body))
    front = bytes(header) + table
    return front + blake(front) + bytes(32) + body


def model_hash(data):
    """The hash that the file claims."""
    count, = struct.unpack_from("<I", data, 56)
    at = HEADER + RECORD * count
    return data[at:at + 32].hex()


def keep_every_word(data):
    """Honest words and vectors. Every list is the word itself at distance 0, every bound is raised:
    a draw gives the word back."""
    header, sections = sections_of(data)
    words, = struct.unpack_from("<I", header, 24)
    struct.pack_into("<I", header, 40, 1)
    sections[LIST_STARTS] = struct.pack(f"<{words + 1}Q", *range(words + 1))
    sections[LISTS] = b"".join(struct.pack("<II", word, 0) for word in range(words))
    sections[BOUNDS] = struct.pack("<I", INFINITE - 1) * (words * PARTS)
    return seal(header, sections)


def change_content(data, kind):
    """Changes one byte of a section; the header and its hashes stay."""
    count, = struct.unpack_from("<I", data, 56)
    changed = bytearray(data)
    for i in range(count):
        found, _, offset, size = struct.unpack_from("<IIQQ", data, HEADER + RECORD * i)
        if found == kind:
            changed[offset + size - 1] ^= 1
    return bytes(changed)


def siphash(data, mask=2 ** 64 - 1):
    """SipHash-2-4 under a key of zeros."""
    def rotate(x, bits):
        return (x << bits | x >> (64 - bits)) & mask

    def mix(v, rounds):
        for _ in range(rounds):
            v[0] = (v[0] + v[1]) & mask
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & mask
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & mask
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & mask
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    state = [0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573]
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for part, in struct.iter_unpack("<Q", padded):
        state[3] ^= part
        mix(state, 2)
        state[0] ^= part
    state[2] ^= 255
    mix(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def word_sections(words):
    encoded = [word.encode() for word in words]
    starts, slots = [0], 1
    for word in encoded:
        starts.append(starts[-1] + len(word))
    while slots < 2 * len(words):
        slots *= 2
    table = [0] * slots
    for number, word in enumerate(encoded):
        found = siphash(word)
        slot = found % slots
        while table[slot] != 0:
            slot = (slot + 1) % slots
        table[slot] = found >> 32 << 32 | number + 1
    return {WORD_STARTS: struct.pack(f"<{len(starts)}I", *starts), WORD_BYTES: b"".join(encoded),
            WORD_TABLE: struct.pack(f"<{slots}Q", *table)}


def matrix_model(words, distance, all_triangles):
    """A model of given distances, in steps, whose lists have every word; what it says of its
    triangles."""
    count = len(words)
    lists = b""
    for a in range(count):
        near = sorted((distance(a, b) if a != b else 0, b) for b in range(count))
        lists += b"".join(struct.pack("<II", b, d) for d, b in near)
    triangles = count * (count - 1) * (count - 2) // 6 | (1 << 63 if all_triangles else 0)
    header = bytearray(struct.pack("<8sIIQIIIIIIQII", b"TEMMODEL", 2, 0, 0, count, 0, 5, 0, count,
                                   2, triangles, 7, 0))
    pairs = [distance(a, b) for a in range(count) for b in range(a)]
    return seal(header, word_sections(words) | {
        MATRIX: struct.pack(f"<{len(pairs)}I", *pairs),
        LIST_STARTS: struct.pack(f"<{count + 1}Q", *range(0, count * count + 1, count)),
        LISTS: lists, BOUNDS: struct.pack("<I", INFINITE) * (count * PARTS)})


def ring(count=300):
    """Neighbors on a ring are next to each other, all others far apart. That is no metric, and Z
    is the same everywhere: the loss looks like s. The outputs next to one word are far from its
    neighbor."""
    def distance(a, b):
        return ONE // 500 if abs(a - b) in (1, count - 1) else ONE
    return matrix_model([f"w{i}" for i in range(count)], distance, True)


def honest_circle(count=300):
    """The same words along a circle, which is a metric."""
    def distance(a, b):
        return ONE // 10 * min(abs(a - b), count - abs(a - b))
    return matrix_model([f"w{i}" for i in range(count)], distance, True)
