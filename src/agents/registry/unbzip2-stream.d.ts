/** The parts of which `unbzip2-stream` consists. */
declare module 'unbzip2-stream/lib/bit_iterator.js' {
  interface BitReader {
    (bits: number | null): number
    /** Number of bytes from which bits were read. */
    bytesRead: number
  }
  export default function bitIterator(nextBuffer: () => Uint8Array): BitReader
}

declare module 'unbzip2-stream/lib/bzip2.js' {
  import type { BitReader } from 'unbzip2-stream/lib/bit_iterator.js'

  const bzip2: {
    /** Reads a stream's header; returns the size of its blocks in units of 100,000 bytes. */
    header(bits: BitReader): number
    /** Decompresses the next block. Returns the checksum of the stream so far; `null` at its end. */
    decompress(
      bits: BitReader,
      push: (byte: number) => void,
      buffer: Int32Array,
      size: number,
      checksum: number,
    ): number | null
  }
  export default bzip2
}
