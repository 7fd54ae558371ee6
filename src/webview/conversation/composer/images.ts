/** Reduces images to a size for models, since larger images aren't understood better but cost time and money. */
import type { Attachment } from '../../../bridge/conversation.ts'
import { imageInfo, MAX_IMAGE_SIDE } from '../../../common/image-info.ts'

/** Images up to this size are sent unchanged, unless a side is too long. Bytes. */
const MAX_UNCHANGED = 400_000
/** Larger files aren't opened. Bytes. */
const MAX_OPENED = 40_000_000

type ImageContent = Extract<Attachment['content'], { type: 'image' }>

/** Whether an image must be redrawn: it's too large, or of a type that not all models support. */
export function mustShrink(width: number, height: number, bytes: number, mimeType: string): boolean {
  return (
    Math.max(width, height) > MAX_IMAGE_SIDE ||
    bytes > MAX_UNCHANGED ||
    !/^image\/(png|jpeg|gif|webp)$/.test(mimeType)
  )
}

/** Returns the size of the redrawn image: the same aspect ratio, with sides from 1 to {@link MAX_IMAGE_SIDE} pixels. */
export function fitted(width: number, height: number): { width: number; height: number } {
  const scale = Math.min(1, MAX_IMAGE_SIDE / Math.max(width, height, 1))
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/** Reads an image and reduces its size. Rejects if the browser can't show it. */
export async function readImage(file: Blob): Promise<Pick<ImageContent, 'data' | 'mimeType'>> {
  if (file.size > MAX_OPENED) throw new RangeError('too large')
  const picture = await createImageBitmap(file)
  try {
    const { width, height } = picture
    // models refuse an image with a wrong type
    const mimeType = imageInfo(new Uint8Array(await file.arrayBuffer()))?.mimeType ?? ''
    if (!mustShrink(width, height, file.size, mimeType)) return { data: await base64(file), mimeType }
    const size = fitted(width, height)
    const canvas = new OffscreenCanvas(size.width, size.height)
    const context = canvas.getContext('2d')
    if (!context) throw new Error('no canvas')
    context.imageSmoothingQuality = 'high'
    context.drawImage(picture, 0, 0, size.width, size.height)
    const sharp = await canvas.convertToBlob({ type: 'image/png' })
    // keep text in a screenshot sharp if that costs little
    const blob =
      sharp.size <= MAX_UNCHANGED ? sharp : await canvas.convertToBlob({ type: 'image/webp', quality: 0.85 })
    return { data: await base64(blob), mimeType: blob.type }
  } finally {
    picture.close()
  }
}

/** Reduces the size of an image that the host read from disk. */
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
