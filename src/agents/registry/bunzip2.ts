/**
 * Decompresses bzip2 streams that follow each other, piece by piece. No piece takes long, not even an empty one, so that
 * the caller can stop in between. Throws if the data is damaged. The format: https://en.wikipedia.org/wiki/Bzip2
 *
 * @param read fills the start of a buffer and returns the number of bytes; 0 at the end
 */
export function* bunzip2(read: (into: Buffer) => number): Generator<Buffer, void> {
  const bits = new BitReader(read)
  let block = new Uint32Array(0)
  do {
    if (bits.take(24) !== STREAM) throw new Error('it is not a bzip2 file')
    const size = (bits.take(8) - 0x30) * 100_000
    if (size < 100_000 || size > 900_000) throw damaged()
    let checksum = 0
    for (;;) {
      const mark = bits.take(24) * 2 ** 24 + bits.take(24)
      const stored = (bits.take(16) << 16) | bits.take(16)
      if (mark === STREAM_END) {
        if (stored !== checksum) throw damaged()
        break
      }
      if (mark !== BLOCK) throw damaged()
      if (block.length < size) block = new Uint32Array(size)
      const found = yield* readBlock(bits, block.subarray(0, size))
      if ((yield* bytesOf(block, found)) !== stored) throw damaged()
      checksum = ((checksum << 1) | (checksum >>> 31)) ^ stored
    }
    bits.skipToByte()
    yield NOTHING
  } while (!bits.isAtEnd)
}

const STREAM = 0x425a68
const BLOCK = 0x314159265359
const STREAM_END = 0x177245385090
const NOTHING = Buffer.alloc(0)
const PIECE = 256 * 1024
/** Number of symbols after which another code may follow. */
const GROUP = 50
/** Number of symbols after which the caller may stop. */
const PAUSE = 50_000
const MAX_CODE_LENGTH = 20

function damaged(): Error {
  return new Error('it is damaged')
}

class BitReader {
  readonly #read: (into: Buffer) => number
  readonly #bytes = Buffer.alloc(65_536)
  #length = 0
  #at = 0
  /** Its lowest bits are the next ones. */
  #value = 0
  #count = 0

  constructor(read: (into: Buffer) => number) {
    this.#read = read
  }

  /** The next bits as a number, at most 24. */
  take(count: number): number {
    while (this.#count < count) {
      if (!this.#hasByte()) throw new Error('it ends early')
      this.#value = (this.#value << 8) | this.#bytes[this.#at++]!
      this.#count += 8
    }
    this.#count -= count
    return (this.#value >>> this.#count) & ((1 << count) - 1)
  }

  skipToByte(): void {
    this.#count -= this.#count % 8
  }

  get isAtEnd(): boolean {
    return this.#count === 0 && !this.#hasByte()
  }

  #hasByte(): boolean {
    if (this.#at === this.#length) {
      this.#length = this.#read(this.#bytes)
      this.#at = 0
    }
    return this.#length > 0
  }
}

/** The content of a block: `length` entries, each a byte and, above it, the place of the next one. */
interface Block {
  length: number
  start: number
}

/** Reads a block into `entries`, whose size is the limit. */
function* readBlock(bits: BitReader, entries: Uint32Array): Generator<Buffer, Block> {
  // an option of old versions
  if (bits.take(1) !== 0) throw damaged()
  const first = bits.take(24)
  const bytes = readBytesInUse(bits)
  const tables = bits.take(3)
  const selectors = new Uint8Array(bits.take(15))
  if (bytes.length === 0 || tables < 2 || tables > 6) throw damaged()
  const recentTables = Uint8Array.from({ length: tables }, (_, index) => index)
  for (let at = 0; at < selectors.length; at++) {
    let index = 0
    while (bits.take(1) === 1) if (++index >= tables) throw damaged()
    selectors[at] = moveToFront(recentTables, index)
  }
  const end = bytes.length + 1
  const codes = Array.from({ length: tables }, () => new Code(bits, end + 1))

  let length = 0
  let run = 0
  let weight = 1
  for (let symbols = 0; ; symbols++) {
    if (symbols % PAUSE === PAUSE - 1) yield NOTHING
    const code = codes[selectors[Math.floor(symbols / GROUP)] ?? tables]
    if (!code) throw damaged()
    const symbol = code.next(bits)
    if (symbol <= 1) {
      // digits of a number of repetitions, the lowest first
      run += weight << symbol
      weight *= 2
      if (length + run > entries.length) throw damaged()
      continue
    }
    if (run > 0) {
      entries.fill(bytes[0]!, length, length + run)
      length += run
      run = 0
      weight = 1
    }
    if (symbol === end) break
    if (length === entries.length) throw damaged()
    entries[length++] = moveToFront(bytes, symbol - 1)
  }
  if (first >= length) throw damaged()
  sortBlock(entries, length)
  return { length, start: entries[first]! >>> 8 }
}

function readBytesInUse(bits: BitReader): Uint8Array {
  const bytes: number[] = []
  const rows = bits.take(16)
  for (let row = 0; row < 16; row++) {
    if ((rows & (0x8000 >> row)) === 0) continue
    const columns = bits.take(16)
    for (let column = 0; column < 16; column++)
      if ((columns & (0x8000 >> column)) !== 0) bytes.push(row * 16 + column)
  }
  return Uint8Array.from(bytes)
}

function moveToFront(list: Uint8Array, index: number): number {
  const value = list[index]!
  list.copyWithin(1, 0, index)
  list[0] = value
  return value
}

/** A Huffman code, read from the lengths of its symbols. */
class Code {
  readonly #counts = new Uint16Array(MAX_CODE_LENGTH + 1)
  /** by length */
  readonly #symbols: number[]

  constructor(bits: BitReader, size: number) {
    const lengths = new Uint8Array(size)
    let length = bits.take(5)
    for (let symbol = 0; symbol < size; symbol++) {
      for (;;) {
        if (length < 1 || length > MAX_CODE_LENGTH) throw damaged()
        if (bits.take(1) === 0) break
        length += bits.take(1) === 0 ? 1 : -1
      }
      lengths[symbol] = length
      this.#counts[length]! += 1
    }
    this.#symbols = [...lengths.keys()].sort((one, other) => lengths[one]! - lengths[other]! || one - other)
  }

  next(bits: BitReader): number {
    let code = 0
    let first = 0
    let index = 0
    for (let length = 1; length <= MAX_CODE_LENGTH; length++) {
      code |= bits.take(1)
      const count = this.#counts[length]!
      if (code - first < count) {
        const symbol = this.#symbols[index + code - first]
        if (symbol !== undefined) return symbol
      }
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    throw damaged()
  }
}

/** Reverses the Burrows–Wheeler transform: puts the place of the next entry above each byte. */
function sortBlock(entries: Uint32Array, length: number): void {
  const places = new Uint32Array(257)
  for (let at = 0; at < length; at++) places[entries[at]! + 1]! += 1
  for (let byte = 1; byte < 257; byte++) places[byte]! += places[byte - 1]!
  for (let at = 0; at < length; at++) {
    const byte = entries[at]! & 0xff
    entries[places[byte]!]! |= at << 8
    places[byte]! += 1
  }
}

/** The bytes of a block, with four equal ones followed by a number of repetitions. Returns their checksum. */
function* bytesOf(entries: Uint32Array, { length, start }: Block): Generator<Buffer, number> {
  let piece = Buffer.allocUnsafe(PIECE)
  let size = 0
  let checksum = -1
  let place = start
  let previous = -1
  let equal = 0
  for (let at = 0; at < length; at++) {
    const entry = entries[place]!
    place = entry >>> 8
    let byte = entry & 0xff
    let copies = 1
    if (equal === 4) {
      copies = byte
      byte = previous
      equal = 0
      previous = -1
    } else if (byte === previous) equal += 1
    else {
      equal = 1
      previous = byte
    }
    if (size + copies > PIECE) {
      yield piece.subarray(0, size)
      piece = Buffer.allocUnsafe(PIECE)
      size = 0
    }
    for (; copies > 0; copies--) {
      checksum = (checksum << 8) ^ CHECKSUMS[((checksum >>> 24) ^ byte) & 0xff]!
      piece[size++] = byte
    }
  }
  yield piece.subarray(0, size)
  return ~checksum
}

const CHECKSUMS = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24
  for (let bit = 0; bit < 8; bit++) value = value < 0 ? (value << 1) ^ 0x04c11db7 : value << 1
  return value
})
