import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ContentBlock } from '../../../acp/model.ts'
import type { MessageEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { ContentBlockView } from '../content.tsx'
import { useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'

/** What the person wrote, as they wrote it; a long prompt is folded. */
export function Prompt({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as MessageEntry
  void slot.grown.value
  const open = slot.open.value
  const texts = entry.blocks.flatMap(block => (block.type === 'text' ? [block.text] : []))
  const others = entry.blocks.filter(block => block.type !== 'text')
  const text = texts.join('\n').trim()
  const { ref, cut } = useCut(text, open)

  return (
    <div class="prompt">
      <span class="visually-hidden">{t('You')}: </span>
      {text !== '' && (
        <div ref={ref} class={`prompt-text${open ? '' : ' folded'}`} dir="auto">
          {text.length > 20_000 && !open ? text.slice(0, 20_000) : text}
        </div>
      )}
      {(cut || open) && (
        <button type="button" class="link-button" aria-expanded={open} onClick={() => app.toggle(slot)}>
          {open ? t('Show less') : t('Show more')}
        </button>
      )}
      {others.length > 0 && <Attachments blocks={others} />}
      <div class="row-actions">
        <IconButton icon="copy" label={t('Copy')} onClick={() => app.host.copy(text)} />
      </div>
    </div>
  )
}

function Attachments({ blocks }: { blocks: readonly ContentBlock[] }) {
  return (
    <div class="chips">
      {blocks.map((block, i) => (
        <ContentBlockView key={i} block={block} />
      ))}
    </div>
  )
}

/** Whether the folded text is longer than what shows of it. */
function useCut(text: string, open: boolean) {
  const ref = useRef<HTMLDivElement>(null)
  const [cut, setCut] = useState(false)
  useLayoutEffect(() => {
    const element = ref.current
    // asking for a height makes the browser lay out: not for what is short in the narrowest view
    if (text.length < 300 && text.split('\n').length < 12) setCut(false)
    else if (element && !open) setCut(element.scrollHeight > element.clientHeight + 2)
  }, [text, open])
  return { ref, cut }
}
