import assert from 'node:assert/strict'
import fc from 'fast-check'
import { imageInfo } from '../../../src/common/image-info.ts'

/** The first bytes of images of 300 × 20 pixels. */
const images = {
  png: '89504e470d0a1a0a0000000d494844520000012c000000140806000000',
  gif: '4749463839612c011400f00000',
  jpeg: `ffd8ffe000104a46494600010100000100010000ffdb0043${'ff'.repeat(65)}ffc00011080014012c03012200021101031101`,
  webp: '524946464602000057454250565038580a000000200000002b01001300004943',
}
const webp = {
  lossy: '52494646000000005745425056503820000000003001009d012a2c0114000100',
  lossless: '5249464600000000574542505650384c000000002f2bc1040000000000',
}

describe('the type and size of an image', () => {
  it('is in its first bytes', () => {
    for (const [type, hex] of Object.entries(images))
      assert.deepEqual(read(hex), sized(`image/${type}`), type)
    for (const [kind, hex] of Object.entries(webp)) assert.deepEqual(read(hex), sized('image/webp'), kind)
  })

  it('follows the fill bytes before a marker of a JPEG', () => {
    assert.deepEqual(read(images.jpeg.replace('ffdb', 'ffffffffdb')), sized('image/jpeg'))
    assert.deepEqual(read(images.jpeg.replace('ffc0', 'ffffffffc0')), sized('image/jpeg'))
  })

  it('is unknown for a JPEG of which it would take millions of steps to find, or whose segments are none', () => {
    const jpeg = images.jpeg
    const size = jpeg.slice(jpeg.indexOf('ffc0'))
    assert.equal(read(`ffd8ff${'ff'.repeat(100_000)}${size}`), undefined)
    assert.equal(read(`ffd8ffe0${'0000'.repeat(4)}${size}`), undefined)
  })

  it('is unknown for other data, and for what was cut', () => {
    for (const hex of [...Object.values(images), ...Object.values(webp)])
      assert.equal(read(hex.slice(0, 16)), undefined)
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), bytes => void imageInfo(bytes)))
    assert.equal(imageInfo(Buffer.from('<svg width="300">')), undefined)
  })
})

function read(hex: string) {
  return imageInfo(Buffer.from(hex, 'hex'))
}

function sized(mimeType: string) {
  return { mimeType, width: 300, height: 20 }
}
