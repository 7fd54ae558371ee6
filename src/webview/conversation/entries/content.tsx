import { useState } from 'preact/hooks'
import type { ContentBlock } from '../../../acp/model.ts'
import { t } from '../../l10n.ts'
import { MarkdownText } from '../../markdown/view.tsx'
import { pretty } from '../../tools/raw.ts'
import { HighlightedCode } from './highlighted-code.tsx'
import { LinkChip, Picture, Resource } from './media.tsx'

/** More of a text than this is drawn only when asked for. Characters. */
const longText = 24_000

/** One block of content, of whatever kind. */
export function ContentBlockView({ block }: { block: ContentBlock }) {
  return block.type !== 'unknown' && block.agentOnly ? <AgentOnly block={block} /> : <Block block={block} />
}

/** What is meant for the model and not for the person: there, but folded. */
function AgentOnly({ block }: { block: ContentBlock }) {
  const [open, setOpen] = useState(false)
  return (
    <details class="fold" open={open} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{t('Meant for the model')}</summary>
      {open && <Block block={block} />}
    </details>
  )
}

function Block({ block }: { block: ContentBlock }) {
  switch (block.type) {
    case 'text':
      return <LongText text={block.text} />
    case 'image':
      return <Picture data={block.data} mimeType={block.mimeType} name={block.uri} />
    case 'audio':
      return (
        // biome-ignore lint/a11y/useMediaCaption: what an agent says comes without captions
        <audio class="content-audio" controls src={`data:${block.mimeType};base64,${block.data}`} />
      )
    case 'resource_link':
      return <LinkChip link={block} />
    case 'resource':
      return <Resource resource={block} />
    case 'unknown':
      return (
        <details class="fold">
          <summary>{t('Content of an unknown kind: {0}', block.kind)}</summary>
          <HighlightedCode text={pretty(block.raw)} language="json" />
        </details>
      )
  }
}

/** Text as markdown; a very long one shows its beginning first. */
function LongText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false)
  if (text.length <= longText || whole) return <MarkdownText text={text} />
  return (
    <>
      <MarkdownText text={cutText(text)} />
      <button type="button" class="link-button" onClick={() => setWhole(true)}>
        {t('Show all')}
      </button>
    </>
  )
}

/** The beginning of a text up to a line's end; an open fence is closed by the parser itself. */
function cutText(text: string): string {
  const end = text.lastIndexOf('\n', longText)
  return text.slice(0, end > longText / 2 ? end : longText)
}
