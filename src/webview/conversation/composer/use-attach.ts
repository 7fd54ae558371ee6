import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { MentionRow } from '../../../bridge/conversation.ts'
import { messageOf } from '../../../common/errors.ts'
import { t } from '../../l10n.ts'
import { announce } from '../../ui/live-region.tsx'
import { useApp } from '../context.ts'
import {
  type Attached,
  attachFiles,
  fitAttachments,
  isCodeLike,
  isLargePaste,
  isPathLike,
  isPicture,
  pastedChip,
  receiverOf,
  urisIn,
} from './attach.ts'
import type { Draft } from './draft.ts'
import type { TextInputHandle } from './text-input.tsx'

interface AttachOptions {
  draft: Draft
  input: RefObject<TextInputHandle | null>
  area: RefObject<HTMLElement | null>
  onFail: (sentence: string) => void
}

interface Attach {
  /** Attaches items, and reports the items that couldn't be attached. */
  attach(attaching: Promise<Attached>): Promise<void>
  attachRow(row: MentionRow): void
  /** Returns true if the pasted content was attached. */
  onPaste(event: ClipboardEvent): boolean
  /** Whether something that can be attached is being dragged over the composer. */
  dropping: boolean
}

/** Attaches picked, pasted and dropped items; a long pasted text becomes a chip in the text. */
export function useAttach({ draft, input, area, onFail }: AttachOptions): Attach {
  const { store, host } = useApp()
  const [dropping, setDropping] = useState(false)
  const receiver = () => receiverOf(store.head.peek())

  const attach = async (attaching: Promise<Attached>) => {
    try {
      const { attachments, refused } = await attaching
      for (const attachment of attachments) draft.attach(attachment)
      const labels = attachments.map(attachment => attachment.label).join(', ')
      if (labels) announce(t('{0} attached', labels))
      if (refused.length > 0) onFail(refused.join('\n'))
    } catch (error) {
      onFail(messageOf(error))
    }
    input.current?.focus()
  }
  const attachRow = (row: MentionRow) => {
    if (!('content' in row.attaches)) {
      const read =
        'capture' in row.attaches
          ? host.request('composer/capture', { kind: row.attaches.capture })
          : host.request('composer/session', row.attaches.session)
      void attach(read.then(items => fitAttachments(items, receiver())))
    } else if (isPicture(row.attaches) && row.attaches.content.type === 'file')
      void attach(
        host
          .request('composer/dropped', { uris: [row.attaches.content.uri] })
          .then(read => fitAttachments(read, receiver())),
      )
    else void attach(Promise.resolve({ attachments: [row.attaches], refused: [] }))
  }
  /** Replaces the pasted path with a chip if it leads to a file or folder of the workspace. Undo restores the path. */
  const replacePath = async (path: string, from: number) => {
    const [item] = await host.request('composer/pastedPath', { path }).catch(() => [])
    const { text } = draft.content.peek()
    const to = from + path.length
    const isWord = /^\s?$/.test(text.charAt(from - 1)) && /^\s?$/.test(text.charAt(to))
    if (!item || !isWord || text.slice(from, to) !== path) return
    input.current?.insertChip(item, { from, to })
    announce(t('{0} attached', item.label))
  }
  /** Replaces the pasted code with a chip for its lines if an open editor contains it. Undo restores the code. */
  const replaceCode = async (code: string, place: number | string) => {
    const [item] = await host.request('composer/pastedCode', { code }).catch(() => [])
    const { text, chips } = draft.content.peek()
    const range =
      typeof place === 'number'
        ? { from: place, to: place + code.length }
        : chips.find(({ id }) => id === place)
    if (!item || !range || (typeof place === 'number' && text.slice(range.from, range.to) !== code)) return
    input.current?.insertChip(item, { from: range.from, to: range.to })
    announce(t('{0} attached', item.label))
  }
  const onPaste = (event: ClipboardEvent): boolean => {
    const data = event.clipboardData
    if (!data) return false
    const pasted = data.getData('text/plain')
    const files = [...data.files]
    // a copied cell or drawing contains text and an image: use the text
    if (files.length > 0 && pasted === '') {
      void attach(attachFiles(files, receiver()))
      return true
    }
    const start = input.current?.caret.start ?? 0
    const text = pasted.replace(/\r\n?/g, '\n')
    const isLarge = isLargePaste(text)
    const chip = isLarge ? pastedChip(text) : undefined
    if (isPathLike(pasted)) void replacePath(pasted, start)
    else if (isCodeLike(text)) void replaceCode(text, chip?.id ?? start)
    if (!chip) return false
    input.current?.insertChip(chip)
    return true
  }
  const drop = useRef((_data: DataTransfer) => {})
  drop.current = data => {
    const uris = urisIn(data)
    if (uris.length > 0)
      void attach(host.request('composer/dropped', { uris }).then(read => fitAttachments(read, receiver())))
    else void attach(attachFiles([...data.files], receiver()))
  }
  useEffect(() => {
    const element = area.current
    return element ? listenToDrops(element, setDropping, data => drop.current(data)) : undefined
  }, [area])

  return { attach, attachRow, onPaste, dropping }
}

/** Listens to drops anywhere in the page; content dragged from the page itself, such as a link, is accepted only on the composer. */
function listenToDrops(
  composer: HTMLElement,
  onOver: (over: boolean) => void,
  onDrop: (data: DataTransfer) => void,
): () => void {
  let isOwn = false
  const belongs = ({ target }: DragEvent) => !isOwn || composer.contains(target as Node | null)
  const listeners = new AbortController()
  const listen = (
    type: 'dragstart' | 'dragend' | 'dragover' | 'dragleave' | 'drop',
    on: (event: DragEvent) => void,
  ) => document.addEventListener(type, on, { capture: true, signal: listeners.signal })
  listen('dragstart', () => {
    isOwn = true
  })
  listen('dragend', () => {
    isOwn = false
  })
  listen('dragover', event => {
    const takes = event.dataTransfer?.types.some(type => type === 'Files' || type.endsWith('uri-list'))
    if (!takes || !event.dataTransfer || !belongs(event)) return onOver(false)
    event.preventDefault()
    event.dataTransfer.dropEffect = 'copy'
    onOver(true)
  })
  listen('dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) onOver(false)
  })
  listen('drop', event => {
    onOver(false)
    const data = event.dataTransfer
    if (!data || !belongs(event) || (urisIn(data).length === 0 && data.files.length === 0)) return
    event.preventDefault()
    // otherwise, the editor would insert the names of the files
    event.stopPropagation()
    onDrop(data)
  })
  return () => listeners.abort()
}
