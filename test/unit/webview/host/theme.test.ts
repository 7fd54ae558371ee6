import assert from 'node:assert/strict'
import fc from 'fast-check'
import { contrast, quietColor, type Rgb, readable, readColor } from '../../../../src/webview/host/theme.ts'

describe('secondary text', () => {
  it("is dimmed, but still readable, if the theme doesn't distinguish it", () => {
    const light: Rgb[] = [
      [248, 248, 248],
      [255, 255, 255],
    ]
    const own = quietColor([59, 59, 59], [59, 59, 59], light)
    assert.ok(own && light.every(surface => contrast(own, surface) >= 4.5), String(own))
    assert.ok(contrast(own, [59, 59, 59]) > 1.5)
  })

  it("has the theme's own color if that differs", () => {
    assert.equal(quietColor([204, 204, 204], [157, 157, 157], [[24, 24, 24]]), undefined)
  })

  it('is brighter on a field as needed', () => {
    const [text, own]: Rgb[] = [
      [211, 175, 134],
      [167, 155, 140],
    ]
    const surfaces: Rgb[] = [
      [54, 39, 18],
      [81, 65, 44],
    ]
    assert.ok(contrast(own!, surfaces[1]!) < 4.5)
    const fitted = quietColor(text, own, surfaces)
    assert.ok(fitted && surfaces.every(surface => contrast(fitted, surface) >= 4.5))
    assert.equal(quietColor(undefined, [157, 157, 157], [[24, 24, 24]]), undefined)
  })
})

describe('contrast', () => {
  it('reads colors as VS Code writes them', () => {
    assert.deepEqual(readColor('#fff'), [255, 255, 255])
    assert.deepEqual(readColor(' #102030 '), [16, 32, 48])
    assert.deepEqual(readColor('#ffffff80', [0, 0, 0]), [128, 128, 128])
    assert.deepEqual(readColor('rgba(10, 20, 30, 0.5)', [20, 20, 20]), [15, 20, 25])
    for (const none of ['', 'red', '#12', 'rgb(a)', 'var(--x)']) assert.equal(readColor(none), undefined)
  })

  it('is calculated according to WCAG', () => {
    assert.equal(contrast([0, 0, 0], [255, 255, 255]), 21)
    assert.equal(contrast([119, 119, 119], [119, 119, 119]), 1)
    assert.ok(Math.abs(contrast([119, 119, 119], [255, 255, 255]) - 4.48) < 0.01)
  })

  it('keeps the hue of colors even if the text itself is faint', () => {
    const [text, ground, green]: Rgb[] = [
      [101, 123, 131],
      [253, 246, 227],
      [133, 153, 0],
    ]
    const shown = readable(green!, [ground!], text!)
    assert.notDeepEqual(shown, text)
    assert.ok(contrast(shown, ground!) >= contrast(text!, ground!) * 0.75)
  })

  it("is sufficient if the text itself is readable, and good colors aren't changed", () => {
    const part = fc.integer({ min: 0, max: 255 })
    const color = fc.tuple(part, part, part)
    fc.assert(
      fc.property(color, color, color, (one: Rgb, surface: Rgb, text: Rgb) => {
        fc.pre(contrast(text, surface) >= 4.5)
        const result = readable(one, [surface], text)
        assert.ok(contrast(result, surface) >= 4.5)
        if (contrast(one, surface) >= 4.5) assert.deepEqual(result, one)
      }),
    )
  })
})
