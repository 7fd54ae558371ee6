import assert from 'node:assert/strict'
import { bunzip2 } from '../../../../src/agents/registry/bunzip2.ts'

/** Reads as a file does, in parts of any size. */
function unpacked(data: Buffer, most = 1000): Buffer {
  let at = 0
  const read = (into: Buffer) => {
    const count = data.copy(into, 0, at, at + most)
    at += count
    return count
  }
  return Buffer.concat([...bunzip2(read)])
}

/** Some bits have no effect. */
function isUnusableOr(content: Buffer, data: Buffer): boolean {
  try {
    return unpacked(data).equals(content)
  } catch {
    return true
  }
}

/** Bits as the text `0` and `1`, filled up to whole bytes. */
function bytesOf(bits: string): Buffer {
  const bytes = bits.match(/.{1,8}/g) ?? []
  return Buffer.from(bytes.map(byte => Number.parseInt(byte.padEnd(8, '0'), 2)))
}

/** A stream with one block, whose only byte is 0. `symbols`: 0 and 10 are digits of a repetition, 11 is the end. */
function withBlock(symbols: string): Buffer {
  const bits = (value: number, count: number) => value.toString(2).padStart(count, '0')
  const table = `${bits(1, 5)}0${'100'}0`
  return bytesOf(
    [
      ...[0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59].map(byte => bits(byte, 8)),
      ...[bits(0, 32), '0', bits(0, 24), bits(0x8000, 16), bits(0x8000, 16)],
      ...[bits(2, 3), bits(1, 15), '0', table, table, symbols],
    ].join(''),
  )
}

// compressed by bzip2 1.0.8
const samples: Array<[string, string, () => Buffer]> = [
  ['nothing', 'QlpoORdyRThQkAAAAAA=', () => Buffer.alloc(0)],
  ['one byte', 'QlpoOTFBWSZTWRmTm2sAAAABACAAIAAhGEaC7kinChIDMnNtYA==', () => Buffer.from('a')],
  ['four equal bytes', 'QlpoOTFBWSZTWTOWyN8AAAJAAGAAIAAhAIILF3JFOFCQM5bI3w==', () => Buffer.alloc(4, 1)],
  [
    'a repetition of the greatest length and one more',
    'QlpoOTFBWSZTWRj3TgoAAALAAKCAAAggACCqbUGYxUeLuSKcKEgMe6cFAA==',
    () => Buffer.alloc(260, 7),
  ],
  [
    'a long repetition',
    'QlpoOTFBWSZTWXnTnkgAB6jAQMAAAAIACCAAMMwJqmmVJDapSQ8XckU4UJB5055I',
    () => Buffer.alloc(1_000_000),
  ],
  [
    'all bytes',
    'QlpoOTFBWSZTWWoAmpcAAAF/////////////////////////////////////////////sAFgAEVVQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAJMABMAATAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABJgAJgACYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAfgsP5P0ft/h/T/MHYQQkhTCyGENYcw8iBEWJETIoxVixFyMMZI0RtjjHSPEfZASEkTI2SElJMyclBKWVMrJYS1lxLyYMxZkTMmjNSbE3ZwzknRO2eE9J8z9oBQShNDKIUVozRykFJaUUspjTWnFPKg1EqRU2qNVKsVdrBWStNba4V0rzXywFhbE2MshZWzFnLMWhtJai1tsLaW4t7cC4lybmXQupdm7l4Ly3ovZfC+t+L+YBwJgjBmEcKYYw7iDEmKMW4wxpjnHmQMiZJyZlDKuWMuZgzLmjNmcc6Z4z5oHQmiNG6Q0ppjTuoNSap1ZrDWmudebA2LsjZm0Nq7Y25uHcm6N2bx3pvjfvAOCcI4bxDinGeOcg5JynlnMOa84550DovSOmdR6p1jrnYeydo7b3DuneO++A8J4nxnkPKeZ856D0vqPWew9r7j3nwfifI+Z9H6n2Pu/g/J+j9v8P6f5/4u5IpwoSDUATUu',
    () => Buffer.from(Array.from({ length: 600 }, (_, at) => (at * 7) & 0xff)),
  ],
  [
    'text',
    'QlpoOTFBWSZTWWNgP10AAJ+RgEAEI+GcICAAcEAAAKVUek02pvUnQnsTBPgnIngnITYmCfhME7E6E2JwJoTQn0JwJgmCaE8E2J/F3JFOFCQY2A/XQA==',
    () => Buffer.from('an agent of the registry, '.repeat(40)),
  ],
]

describe('bzip2', () => {
  for (const [what, packed, content] of samples)
    it(`decompresses ${what}`, () => {
      const data = Buffer.from(packed, 'base64')
      assert.ok(unpacked(data).equals(content()))
      assert.ok(unpacked(data, 1).equals(content()))
      // streams that follow each other
      assert.ok(unpacked(Buffer.concat([data, data])).equals(Buffer.concat([content(), content()])))
    })

  it('throws for data that is damaged, truncated or something else', () => {
    const [, packed, content] = samples.at(-1)!
    const data = Buffer.from(packed, 'base64')
    for (let at = 0; at < data.length; at++) {
      assert.throws(() => unpacked(data.subarray(0, at)), `${at} bytes`)
      const other = Buffer.from(data)
      other[at]! ^= 0x10
      assert.ok(isUnusableOr(content(), other), `byte ${at}`)
    }
    assert.throws(() => unpacked(Buffer.concat([data, Buffer.from('more')])))
    assert.throws(() => unpacked(Buffer.from('<html>')))
  })

  it('throws for a repetition beyond the block, also one whose number has more than 31 digits', () => {
    for (const count of [20, 31, 32, 33, 49])
      assert.throws(() => unpacked(withBlock(`${'0'.repeat(count)}11`)))
  })

  it('yields pieces of a limited size', () => {
    const zeros = Buffer.from(samples.find(([what]) => what === 'a long repetition')![1], 'base64')
    let at = 0
    for (const piece of bunzip2(into => {
      const count = zeros.copy(into, 0, at)
      at += count
      return count
    }))
      assert.ok(piece.length <= 256 * 1024)
  })
})
