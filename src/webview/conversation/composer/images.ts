/** Pictures made small enough for a model: a longer side is of no use to it, and costs time and money. */
import type { Attachment } from '../../../views/bridge/conversation.ts'

/** Pixels of the longer side that models look at. */
export const longestSide = 1568
/** A picture that is smaller than this and not too long is sent as it is. Bytes. */
const smallEnough = 400_000
/** A larger file is not even opened. Bytes. */
const most = 40_000_000

type ImageContent = Extract<Attachment['content'], { type: 'image' }>

/** Whether a picture must be drawn anew: it is too long, or too heavy, or of a kind that not all models take. */
export function mustShrink(width: number, height: number, bytes: number, mimeType: string): boolean {
  return (
    Math.max(width, height) > longestSide ||
    bytes > smallEnough ||
    !/^image\/(png|jpeg|gif|webp)$/.test(mimeType)
  )
}

/** The size that a picture is drawn in: the same shape, no side longer than {@link longestSide}, none less than 1. */
export function fitted(width: number, height: number): { width: number; height: number } {
  const scale = Math.min(1, longestSide / Math.max(width, height, 1))
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/** Reads a picture and makes it small enough. Rejects when the browser cannot show it. */
export async function readImage(file: Blob): Promise<Pick<ImageContent, 'data' | 'mimeType'>> {
  if (file.size > most) throw new RangeError('too large')
  const picture = await createImageBitmap(file)
  try {
    const { width, height } = picture
    if (!mustShrink(width, height, file.size, file.type)) {
      return { data: await base64(file), mimeType: file.type }
    }
    const size = fitted(width, height)
    const canvas = new OffscreenCanvas(size.width, size.height)
    const context = canvas.getContext('2d')
    if (!context) throw new Error('no canvas')
    context.imageSmoothingQuality = 'high'
    context.drawImage(picture, 0, 0, size.width, size.height)
    const sharp = await canvas.convertToBlob({ type: 'image/png' })
    // text in a screenshot stays sharp where that costs little
    const blob =
      sharp.size <= smallEnough ? sharp : await canvas.convertToBlob({ type: 'image/webp', quality: 0.85 })
    return { data: await base64(blob), mimeType: blob.type }
  } finally {
    picture.close()
  }
}

/** A picture that the host read from disk, made small enough. */
export async function shrinkImage(content: ImageContent): Promise<ImageContent> {
  const bytes = Uint8Array.from(atob(content.data), letter => letter.charCodeAt(0))
  const { data, mimeType } = await readImage(new Blob([bytes], { type: content.mimeType }))
  return { ...content, data, mimeType }
}

export function base64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error ?? new Error('unreadable'))
    reader.readAsDataURL(blob)
  })
}
