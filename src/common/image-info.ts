/** Properties of an image that its first bytes contain. */
export interface ImageInfo {
  mimeType: string
  width: number
  height: number
}

/**
 * Maximum length of the longer side that models use, in pixels. Some models refuse much larger images, and then all further prompts of the
 * session.
 */
export const MAX_IMAGE_SIDE = 1568

/** The names of image files that a page can show, and so can convert for models. */
export const PICTURE_NAME = /\.(png|jpe?g|gif|webp|bmp|ico|avif)$/i
/** The names of image files that neither models nor pages can read. */
export const UNREADABLE_PICTURE_NAME = /\.(heic|heif|tiff?|jxl)$/i

/** Reads the type and the size of an image; `undefined` for types that not all models can read. The file name may suggest another type. */
export function imageInfo(bytes: Uint8Array): ImageInfo | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const start = String.fromCharCode(...bytes.subarray(0, 16))
    if (start.startsWith('\x89PNG')) return info('png', view.getUint32(16), view.getUint32(20))
    if (start.startsWith('GIF8')) return info('gif', view.getUint16(6, true), view.getUint16(8, true))
    if (start.startsWith('\xff\xd8\xff')) return jpegInfo(view)
    if (start.startsWith('RIFF') && start.startsWith('WEBPVP8', 8)) return webpInfo(view, start[15])
  } catch {
    // the file is cut off
  }
  return undefined
}

function info(type: string, width: number, height: number): ImageInfo {
  return { mimeType: `image/${type}`, width, height }
}

/** Maximum number of segments and fill bytes of a JPEG before its size; real files have some hundreds at most. */
const MAX_SEGMENTS = 10_000

/**
 * Reads the size of a JPEG from the segment whose marker is one of C0 to CF, except for three with tables. A marker may follow fill bytes,
 * FF.
 */
function jpegInfo(view: DataView): ImageInfo | undefined {
  let at = 2
  for (let steps = 0; steps < MAX_SEGMENTS && view.getUint8(at) === 0xff; steps++) {
    const marker = view.getUint8(at + 1)
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return info('jpeg', view.getUint16(at + 7), view.getUint16(at + 5))
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2)
  }
  return undefined
}

/** Reads the size of a WebP image. `kind`: the fourth letter of the first chunk's name, which means lossy, lossless or extended. */
function webpInfo(view: DataView, kind: string | undefined): ImageInfo {
  if (kind === 'X') {
    const side = (at: number) => 1 + view.getUint16(at, true) + (view.getUint8(at + 2) << 16)
    return info('webp', side(24), side(27))
  }
  if (kind === 'L') {
    const bits = view.getUint32(21, true)
    return info('webp', 1 + (bits & 0x3fff), 1 + ((bits >> 14) & 0x3fff))
  }
  return info('webp', view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff)
}
