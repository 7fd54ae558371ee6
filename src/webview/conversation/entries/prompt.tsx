import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ContentBlock, ResourceBlock, ResourceLinkBlock } from '../../../acp/model.ts'
import { isRewound } from '../../../bridge/conversation.ts'
import { CONTEXT_SCHEME, chipOf } from '../../../common/block-chip.ts'
import { draftOf, inText } from '../../../common/draft.ts'
import type { MessageEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { lazy } from '../../ui/lazy.tsx'
import { PlainCode } from '../../ui/scroll-area.tsx'
import { itemFromBlock } from '../composer/draft.ts'
import { editKey, useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'
import { ContentBlockView } from './content.tsx'

const PromptEditor = lazy(() => import('./prompt-editor.tsx').then(module => module.PromptEditor))
const SteeringLine = lazy(() => import('./prompt-lines.tsx').then(module => module.SteeringLine))

/** A prompt of the user as written, with its chips in place; a long prompt is collapsed. */
export function Prompt({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as MessageEntry
  void slot.grown.value
  const open = slot.open.value
  const within = inText(entry.blocks)
  const beside = entry.blocks.filter((_, i) => !within[i])
  const text = draftOf(
    entry.blocks.filter((_, i) => within[i]),
    itemFromBlock,
  ).text.trim()
  const { ref, cut } = useCut(text, open)
  const [unfolded, setUnfolded] = useState<ResourceBlock | undefined>(undefined)
  const onChip = (block: ResourceBlock | ResourceLinkBlock) => {
    if (!block.uri.startsWith(CONTEXT_SCHEME))
      app.host.send('conversation/link', { href: block.uri, of: 'user' })
    else if (block.type === 'resource') setUnfolded(unfolded === block ? undefined : block)
  }

  if (app.editing.value === editKey(app.store, slot.id))
    return <PromptEditor key={app.editsRound} slot={slot} />
  const rewound = isRewound(app.store.part('rewinds').value ?? [], entry.turn)

  return (
    <div class="prompt">
      <h2 class="visually-hidden">{rewound ? t('You (set aside)') : t('You')}: </h2>
      {entry.steering && <SteeringLine steering={entry.steering} />}
      {text !== '' && (
        <div ref={ref} class={`prompt-text${open ? '' : ' folded'}`} dir="auto">
          <PromptText blocks={entry.blocks} within={within} whole={open} onChip={onChip} />
        </div>
      )}
      {(cut || open) && (
        <button type="button" class="link-button" aria-expanded={open} onClick={() => app.toggle(slot)}>
          {open ? t('Show Less') : t('Show More')}
        </button>
      )}
      {unfolded?.text !== undefined && <PlainCode text={unfolded.text.trimEnd()} />}
      {beside.length > 0 && <Attachments blocks={beside} />}
      <div class="row-actions">
        {!entry.steering && (
          <IconButton
            icon="edit"
            label={t('Edit and Resend')}
            onClick={() => {
              app.editing.value = editKey(app.store, slot.id)
            }}
          />
        )}
        {!rewound && entry.within === undefined && !entry.steering && (
          <IconButton
            icon="discard"
            label={t('Restore to Here…')}
            onClick={() =>
              app.host.send('actions/entry', { command: 'parley.restoreCheckpoint', entryId: slot.id })
            }
          />
        )}
        <IconButton
          icon="send"
          label={t('Resend')}
          onClick={() => app.host.send('actions/entry', { command: 'parley.sendAgain', entryId: slot.id })}
        />
        <IconButton
          icon="copy"
          label={t('Copy')}
          onClick={() => app.host.send('conversation/copy', { text })}
        />
      </div>
    </div>
  )
}

/** Maximum length of a collapsed prompt. Characters. */
const MAX_FOLDED = 20_000

interface PromptTextProps {
  blocks: readonly ContentBlock[]
  within: readonly boolean[]
  whole: boolean
  onChip: (block: ResourceBlock | ResourceLinkBlock) => void
}

function PromptText({ blocks, within, whole, onChip }: PromptTextProps) {
  let remaining = whole ? Number.POSITIVE_INFINITY : MAX_FOLDED
  const first = within.indexOf(true)
  const last = within.lastIndexOf(true)
  return (
    <>
      {blocks.map((block, i) => {
        if (!within[i] || remaining <= 0) return null
        if (block.type === 'resource' || block.type === 'resource_link')
          return <PromptChip key={i} block={block} onPress={() => onChip(block)} />
        if (block.type !== 'text') return null
        let text = block.text
        if (i === first) text = text.trimStart()
        if (i === last) text = text.trimEnd()
        // consecutive texts are separate lines, since agents report the parts of a prompt as consecutive blocks
        if (blocks[i - 1]?.type === 'text') text = `\n${text}`
        text = text.slice(0, remaining)
        remaining -= text.length
        return text
      })}
    </>
  )
}

function PromptChip({ block, onPress }: { block: ResourceBlock | ResourceLinkBlock; onPress: () => void }) {
  const { label, icon, detail } = chipOf(block)
  return (
    <button type="button" class="chip mention" title={detail ?? label} onClick={onPress}>
      <Icon name={icon} />
      <span class="chip-label truncate" dir="auto">
        {label}
      </span>
    </button>
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

/** Returns whether the collapsed text is longer than its visible part, and a ref for its element. */
function useCut(text: string, open: boolean) {
  const ref = useRef<HTMLDivElement>(null)
  const [cut, setCut] = useState(false)
  useLayoutEffect(() => {
    const element = ref.current
    // reading a height forces a layout, so skip text that is short even in the narrowest view
    if (text.length < 300 && text.split('\n').length < 12) setCut(false)
    else if (element && !open) setCut(element.scrollHeight > element.clientHeight + 2)
  }, [text, open])
  return { ref, cut }
}
