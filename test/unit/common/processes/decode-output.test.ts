import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  BINARY_OUTPUT,
  codePageEncoding,
  localeEncoding,
  OutputDecoder,
  outputEncoding,
} from '../../../../src/common/processes/decode-output.ts'

/** As they are written by a program on a system with that encoding. */
const GBK = Buffer.from('b5b1c7b0b4fac2ebd2b33a203933360d0acdf8c2e7b2bbbfc9b4efa1a30d0a', 'hex')
const GBK_TEXT = '当前代码页: 936\r\n网络不可达。\r\n'
const LATIN1_TEXT = 'café: Größe “naïve”, señor\n'
const LATIN1 = Buffer.from('café: Größe \x93naïve\x94, señor\n', 'latin1')
/** "ファイル\n" */
const SHIFT_JIS = Buffer.from('837483408343838b0a', 'hex')

describe('decoding the output of a command', () => {
  it('decodes UTF-8 as it arrives, wherever it is cut', () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { maxLength: 5 })
    fc.assert(
      fc.property(texts, fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (lines, sizes) => {
        const text = Buffer.from(lines.join('\n')).toString()
        assert.equal(decoded(Buffer.from(text), { sizes }), text)
      }),
    )
    const decoder = new OutputDecoder()
    assert.equal(decoder.write(Buffer.from('Name: é').subarray(0, -1)), 'Name: ')
    assert.equal(decoder.write(Buffer.from('é').subarray(1)), 'é')
  })

  it('decodes what looks like Chinese or a European language, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.integer({ min: 1, max: 9 })), sizes => {
        assert.equal(decoded(GBK, { sizes }), GBK_TEXT)
        assert.equal(decoded(LATIN1, { sizes }), LATIN1_TEXT)
      }),
    )
    assert.equal(decoded(GBK.subarray(0, -2)), GBK_TEXT.slice(0, -2), 'without a line end')
  })

  it('decodes a long line before its end without cutting a character', () => {
    const sizes = () => Array<number>(100).fill(4096)[Symbol.iterator]()
    const gbk = Buffer.concat(Array(6000).fill(GBK.subarray(0, 14)))
    assert.equal(decoded(gbk, { sizes: sizes() }), '当前代码页: 93'.repeat(6000))
    const words = '日本語 '.repeat(3000)
    const wrong = Buffer.concat([Buffer.from(words), Buffer.from([0xff]), Buffer.from(words)])
    assert.equal(decoded(wrong, { sizes: sizes() }), `${words}\ufffd${words}`)
  })

  it('uses the configured encoding where it fits', () => {
    assert.equal(decoded(SHIFT_JIS, { encoding: 'shiftjis' }), 'ファイル\n')
    assert.equal(decoded(Buffer.from('é\n'), { encoding: 'shiftjis' }), 'é\n')
    assert.equal(decoded(LATIN1, { encoding: 'shiftjis' }), LATIN1_TEXT)
    assert.equal(decoded(Buffer.from('caf\x82\n', 'latin1'), { encoding: 'cp850' }), 'café\n')
    assert.equal(decoded(Buffer.from('Gr\xf6\xdfe\n', 'latin1'), { encoding: 'cp850' }), 'Größe\n')
    assert.equal(decoded(GBK, { encoding: 'no-such-encoding' }), GBK_TEXT)
  })

  it('decides line by line', () => {
    assert.equal(
      decoded(Buffer.concat([Buffer.from('日本語\n'), GBK, Buffer.from('é\n')])),
      `日本語\n${GBK_TEXT}é\n`,
    )
    const cut = Buffer.from('日本語').subarray(0, -1)
    assert.equal(decoded(Buffer.concat([cut, Buffer.from('\n')])), '日本\ufffd\n')
  })

  it('decodes UTF-16, with and without a byte order mark', () => {
    for (const mark of ['', '\ufeff']) {
      const sizes = [9, 3, 5][Symbol.iterator]()
      assert.equal(decoded(Buffer.from(`${mark}A\r\n né\r\n`, 'utf16le'), { sizes }), 'A\r\n né\r\n')
    }
  })

  it('says that output is binary, once, and shows the text before and after', () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000100000001008060000001ff3ff61', 'hex')
    const noise = Uint8Array.from({ length: 100_000 }, (_, at) => (at * at * 31 + (at >> 3) * 7) % 256)
    const all = Buffer.concat([Buffer.from('before\n'), png, noise, Buffer.from('\ndone\n')])
    assert.equal(decoded(all), `before\n${BINARY_OUTPUT}done\n`)
    assert.equal(decoded(Buffer.from('a b\0c\0')), 'a b\0c\0', 'NUL between file names')
  })

  it('knows the encodings of settings, code pages and locales', () => {
    const settings = [
      'windows1252',
      'iso88591',
      'eucjp',
      'koi8r',
      'shiftjis',
      'big5hkscs',
      'gbk',
      'cp950',
      'macroman',
    ]
    for (const setting of settings) new TextDecoder(outputEncoding(setting))
    assert.deepEqual([outputEncoding('utf8bom'), outputEncoding(undefined)], [undefined, undefined])
    assert.equal(codePageEncoding('Active code page: 936\r\n'), 'gbk')
    assert.equal(codePageEncoding('Page de codes active\u00a0: 850\r\n'), 'cp850')
    assert.equal(codePageEncoding('Active code page: 1252\r\n'), 'windows-1252')
    assert.equal(codePageEncoding('Active code page: 65001\r\n'), undefined)
    assert.equal(codePageEncoding(''), undefined)
    assert.equal(localeEncoding('zh_CN.GBK'), 'gbk')
    assert.equal(localeEncoding('de_DE.ISO-8859-1'), 'iso-8859-1')
    assert.equal(localeEncoding('ja_JP.UTF-8'), 'shift-jis')
    assert.equal(localeEncoding('zh_TW.utf8'), 'big5')
    assert.deepEqual([localeEncoding('C.UTF-8'), localeEncoding('')], [undefined, undefined])
  })
})

function decoded(bytes: Buffer, how: { encoding?: string; sizes?: Iterator<number> } = {}): string {
  const decoder = new OutputDecoder(outputEncoding(how.encoding))
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const end = at + (how.sizes?.next().value ?? 64 * 1024)
    text += decoder.write(bytes.subarray(at, end))
    at = end
  }
  return text + decoder.end()
}
