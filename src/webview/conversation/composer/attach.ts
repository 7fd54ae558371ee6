/** Turns pasted, dropped and picked content into chips, and reports what can't be attached. */

import type { Attachment, ConversationHead } from '../../../bridge/conversation.ts'
import { PICTURE_NAME, UNREADABLE_PICTURE_NAME } from '../../../common/image-info.ts'
import { shortened } from '../../../common/visible.ts'
import { formatNumber, t } from '../../l10n.ts'
import { base64, readImage, shrinkImage } from './images.ts'

/** Longer pasted text becomes a chip. */
const MAX_LINES = 40
const MAX_LETTERS = 4000
/** Longer text isn't looked for in the editors. Characters. */
const MAX_CODE = 100_000
/** Larger dropped text files aren't attached. Bytes. */
const MAX_FILE = 256 * 1024
/** Larger recordings aren't attached. Bytes. */
const MAX_AUDIO = 16_000_000

export function isLargePaste(text: string): boolean {
  if (text.length > MAX_LETTERS) return true
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    if (++lines > MAX_LINES) return true
  return false
}

/** Whether a pasted text may be a path: one line with a slash, and no URL. */
export function isPathLike(text: string): boolean {
  return (
    text.length <= MAX_LETTERS &&
    /^[^\s][^\n\r]*$/.test(text) &&
    /[/\\]/.test(text) &&
    !/^\w+:\/\//.test(text)
  )
}

/** Whether a pasted text may be code copied from an editor: a name or a word stays text. */
export function isCodeLike(text: string): boolean {
  return text.length <= MAX_CODE && /\S[^\n]*\n/.test(text)
}

export function pastedChip(text: string): Attachment {
  const lines = text.split('\n').length
  return {
    id: crypto.randomUUID(),
    label:
      lines > 1
        ? t('Pasted {0} lines', formatNumber(lines))
        : t('Pasted {0} characters', formatNumber(text.length)),
    icon: 'note',
    detail: shortened(text, 600),
    content: { type: 'text', text },
  }
}

/** Whether the item is an image file, which is attached with its content, or reported as unreadable. */
export function isPicture(item: Attachment): boolean {
  return isUnreadable(item) || (item.content.type === 'file' && PICTURE_NAME.test(item.content.uri))
}

function isUnreadable({ content }: Attachment): boolean {
  return content.type === 'file' && UNREADABLE_PICTURE_NAME.test(content.uri)
}

function unreadable(name: string): string {
  if (PICTURE_NAME.test(name)) return t("Can't read {0}.", name)
  return t("Models can't read {0}. Convert it to PNG or JPEG.", name)
}

/** The agent that gets the prompt, and its prompt capabilities if known; without a session, anything can be added. */
interface Receiver {
  name: string
  can: ConversationHead['prompt']
}

export function receiverOf(head: ConversationHead | undefined): Receiver | undefined {
  if (!head?.sessionId || head.phase === 'ended') return undefined
  return { name: head.agent?.name ?? t('The agent'), can: head.prompt }
}

export interface Attached {
  attachments: Attachment[]
  /** a sentence for each item that couldn't be attached */
  refused: string[]
}

/** Attaches files from the clipboard, or dropped from outside of VS Code, of which only the content is available. */
export async function attachFiles(files: readonly File[], receiver: Receiver | undefined): Promise<Attached> {
  const attached: Attached = { attachments: [], refused: [] }
  for (const file of files) {
    try {
      attached.attachments.push(await attachFile(file, receiver))
    } catch (error) {
      attached.refused.push(error instanceof Refused ? error.message : t("Can't read {0}.", nameOf(file)))
    }
  }
  return attached
}

/**
 * Adapts items that the host read to the agent: images are reduced in size, and content that the agent doesn't support
 * becomes a reference to the file.
 */
export async function fitAttachments(
  given: readonly Attachment[],
  receiver: Receiver | undefined,
): Promise<Attached> {
  const attached: Attached = { attachments: [], refused: [] }
  for (const item of given) {
    const { content } = item
    if (content.type === 'image' && receiver?.can.image !== false) {
      const small = await shrinkImage(content).catch(() => undefined)
      if (small) attached.attachments.push({ ...item, content: small })
      else attached.refused.push(t("Can't read {0}.", item.label))
    } else if (isUnreadable(item)) {
      attached.attachments.push(item)
      attached.refused.push(
        t("Models can't read {0}. Convert it to PNG or JPEG. It's added as a file.", item.label),
      )
    } else if (content.type === 'image' && content.uri) {
      attached.attachments.push({ ...item, content: { type: 'file', uri: content.uri } })
      attached.refused.push(
        t("{0} doesn't support images. {1} is added as a file.", receiver!.name, item.label),
      )
    } else if (content.type === 'audio' && receiver?.can.audio === false) {
      attached.refused.push(t("{0} doesn't support audio. {1} wasn't added.", receiver.name, item.label))
    } else attached.attachments.push(item)
  }
  return attached
}

class Refused extends Error {}

async function attachFile(file: File, receiver: Receiver | undefined): Promise<Attachment> {
  const name = nameOf(file)
  const base = { id: crypto.randomUUID(), label: name }
  if (UNREADABLE_PICTURE_NAME.test(name)) throw new Refused(unreadable(name))
  if (file.type.startsWith('image/') && file.type !== 'image/svg+xml') {
    if (receiver?.can.image === false)
      throw new Refused(t("{0} doesn't support images. {1} wasn't added.", receiver.name, name))
    const image = await readImage(file).catch((error: unknown) => {
      throw new Refused(error instanceof RangeError ? t('{0} is too large.', name) : unreadable(name))
    })
    return { ...base, icon: 'file-media', content: { type: 'image', ...image } }
  }
  if (file.type.startsWith('audio/')) {
    if (receiver?.can.audio === false)
      throw new Refused(t("{0} doesn't support audio. {1} wasn't added.", receiver.name, name))
    if (file.size > MAX_AUDIO) throw new Refused(t('{0} is too large.', name))
    return {
      ...base,
      icon: 'unmute',
      content: { type: 'audio', data: await base64(file), mimeType: file.type },
    }
  }
  if (file.size > MAX_FILE) throw new Refused(t('{0} is too large. Use Files… to add it.', name))
  const text = await file.text()
  if (text.includes('\0')) throw new Refused(t('{0} is neither text nor an image.', name))
  const uri = `parley:dropped/${encodeURIComponent(name)}`
  return {
    ...base,
    icon: 'file',
    content: { type: 'resource', uri, mimeType: file.type || 'text/plain', text },
  }
}

function nameOf(file: File): string {
  // the name that browsers give to pasted files
  return file.name === '' || file.name === 'image.png' ? t('Image') : file.name
}

/** Returns the URIs of dropped files and folders, from VS Code's Explorer, its tabs, or the desktop. */
export function urisIn(data: DataTransfer): string[] {
  const lists = ['application/vnd.code.uri-list', 'text/uri-list'].map(type => data.getData(type))
  const list = lists.find(text => text.trim() !== '') ?? ''
  return list.split(/\r?\n/).filter(line => line !== '' && !line.startsWith('#'))
}
