import { crc32, deflateSync, inflateSync } from 'node:zlib'

/** A screenshot and how long it's shown. */
export interface Frame {
  png: Buffer
  ms: number
}

interface Pixels {
  width: number
  height: number
  /** 0xRRGGBB */
  colors: Uint32Array
}

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
/** The colors of an animation; index 0 is transparent. */
const MAX_COLORS = 255
/** Of these, the number chosen because they're frequent. The others are those that differ most from all chosen ones. */
const FREQUENT_COLORS = 170

/**
 * A PNG animation that repeats forever, with one palette. Each frame contains only what differs from the previous one.
 * All frames have the same size. https://www.w3.org/TR/png-3/#apng-frame-based-animation
 */
export function encodeAnimation(frames: readonly Frame[]): Buffer {
  const pictures = frames.map(({ png }) => decode(png))
  const [first] = pictures
  if (!first) throw new Error('An animation needs a frame')
  const { width, height } = first
  const palette = choosePalette(pictures)
  const indexOf = nearestIn(palette)

  let sequence = 0
  const parts: Buffer[] = [SIGNATURE]
  parts.push(chunk('IHDR', u32(width, height), Buffer.from([8, 3, 0, 0, 0])))
  parts.push(chunk('acTL', u32(frames.length, 0)))
  const bytes = palette.flatMap(color => [color >> 16, (color >> 8) & 255, color & 255])
  parts.push(chunk('PLTE', Buffer.from([0, 0, 0, ...bytes])), chunk('tRNS', Buffer.from([0])))
  let before: Pixels | undefined
  for (const [at, picture] of pictures.entries()) {
    if (picture.width !== width || picture.height !== height)
      throw new Error('The frames have different sizes')
    const box = before ? changedBox(before, picture) : { x: 0, y: 0, width, height }
    const delay = Buffer.alloc(6)
    delay.writeUInt16BE(frames[at]!.ms)
    delay.writeUInt16BE(1000, 2)
    // stays for the next frame, and is drawn over the previous one
    delay.set([0, before ? 1 : 0], 4)
    parts.push(chunk('fcTL', u32(sequence++, box.width, box.height, box.x, box.y), delay))
    const data = deflateSync(indexed(picture, before, box, indexOf), { level: 9, memLevel: 9 })
    parts.push(before ? chunk('fdAT', u32(sequence++), data) : chunk('IDAT', data))
    before = picture
  }
  parts.push(chunk('IEND'))
  return Buffer.concat(parts)
}

interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** One pixel if nothing changed, since a frame can't be empty. */
function changedBox(before: Pixels, after: Pixels): Box {
  const { width, height, colors } = after
  let [left, top, right, bottom] = [width, height, -1, -1]
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      if (colors[y * width + x] === before.colors[y * width + x]) continue
      left = Math.min(left, x)
      right = Math.max(right, x)
      top = Math.min(top, y)
      bottom = y
    }
  if (right < 0) return { x: 0, y: 0, width: 1, height: 1 }
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 }
}

/** Rows of palette indexes, each after the filter type 0. */
function indexed(
  { width, colors }: Pixels,
  before: Pixels | undefined,
  box: Box,
  indexOf: (color: number) => number,
): Buffer {
  const rows = Buffer.alloc(box.height * (box.width + 1))
  for (let y = 0; y < box.height; y++)
    for (let x = 0; x < box.width; x++) {
      const from = (box.y + y) * width + box.x + x
      const color = colors[from]!
      rows[y * (box.width + 1) + x + 1] = before?.colors[from] === color ? 0 : indexOf(color)
    }
  return rows
}

function choosePalette(pictures: readonly Pixels[]): number[] {
  const counts = new Map<number, number>()
  for (const { colors } of pictures)
    for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1)
  const byCount = [...counts].sort((one, other) => other[1] - one[1]).map(([color]) => color)
  const chosen = byCount.slice(0, FREQUENT_COLORS)
  const rest = byCount.slice(FREQUENT_COLORS)
  const gaps = rest.map(color => Math.min(...chosen.map(one => distance(color, one))))
  while (chosen.length < MAX_COLORS) {
    let widest = -1
    for (let at = 0; at < rest.length; at++) if (gaps[at]! > (gaps[widest] ?? 0)) widest = at
    const color = rest[widest]
    if (color === undefined) break
    chosen.push(color)
    for (let at = 0; at < rest.length; at++) gaps[at] = Math.min(gaps[at]!, distance(rest[at]!, color))
  }
  return chosen
}

/** The position of the most similar color, after the transparent one. */
function nearestIn(palette: readonly number[]): (color: number) => number {
  const known = new Map(palette.map((color, at) => [color, at + 1]))
  return color => {
    let index = known.get(color)
    if (index !== undefined) return index
    let least = Number.POSITIVE_INFINITY
    for (const [at, one] of palette.entries()) {
      const gap = distance(color, one)
      if (gap >= least) continue
      least = gap
      index = at + 1
    }
    known.set(color, index ?? 1)
    return index ?? 1
  }
}

function distance(one: number, other: number): number {
  const red = (one >> 16) - (other >> 16)
  const green = ((one >> 8) & 255) - ((other >> 8) & 255)
  const blue = (one & 255) - (other & 255)
  return 2 * red * red + 4 * green * green + 3 * blue * blue
}

/** Reads what browsers write: 8 bits for each of red, green and blue, with or without alpha. */
function decode(png: Buffer): Pixels {
  const data: Buffer[] = []
  let [width, height, channels] = [0, 0, 0]
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    const body = png.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') {
      width = body.readUInt32BE(0)
      height = body.readUInt32BE(4)
      channels = body[9] === 6 ? 4 : 3
      if (body[8] !== 8 || (body[9] !== 2 && body[9] !== 6) || body[12] !== 0)
        throw new Error('The screenshot has an unexpected format')
    } else if (type === 'IDAT') data.push(body)
    at += length + 12
  }
  const raw = inflateSync(Buffer.concat(data))
  const stride = width * channels
  const colors = new Uint32Array(width * height)
  let above = Buffer.alloc(stride)
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1)
    const row = Buffer.from(raw.subarray(start + 1, start + 1 + stride))
    unfilter(raw[start]!, row, above, channels)
    for (let x = 0; x < width; x++)
      colors[y * width + x] =
        (row[x * channels]! << 16) | (row[x * channels + 1]! << 8) | row[x * channels + 2]!
    above = row
  }
  return { width, height, colors }
}

/** https://www.w3.org/TR/png-3/#9Filters */
function unfilter(type: number, row: Buffer, above: Buffer, channels: number): void {
  for (let at = 0; at < row.length; at++) {
    const left = at < channels ? 0 : row[at - channels]!
    const up = above[at]!
    const corner = at < channels ? 0 : above[at - channels]!
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][type]!
    row[at] = (row[at]! + guess) & 255
  }
}

function paeth(left: number, up: number, corner: number): number {
  const all = left + up - corner
  const [a, b, c] = [Math.abs(all - left), Math.abs(all - up), Math.abs(all - corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

function chunk(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), ...parts])
  return Buffer.concat([u32(body.length - 4), body, u32(crc32(body))])
}

function u32(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [at, number] of numbers.entries()) bytes.writeUInt32BE(number, at * 4)
  return bytes
}
