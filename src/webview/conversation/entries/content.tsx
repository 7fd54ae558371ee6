import { useState } from 'preact/hooks'
import type { ContentBlock } from '../../../acp/model.ts'
import { t } from '../../l10n.ts'
import { MarkdownText } from '../../markdown/view.tsx'
import { pretty } from '../../tools/raw.ts'
import { HighlightedCode } from './highlighted-code.tsx'
import { LinkChip, Picture, Resource } from './media.tsx'

/** Longer text is shown as plain text, since it's probably output rather than prose. Characters. */
const MAX_PROSE = 24_000

/** A content block of any kind. */
export function ContentBlockView({ block }: { block: ContentBlock }) {
  return block.type !== 'unknown' && block.agentOnly ? <AgentOnly block={block} /> : <Block block={block} />
}

/** Content that is meant for the model rather than the user, collapsed. */
function AgentOnly({ block }: { block: ContentBlock }) {
  const [open, setOpen] = useState(false)
  return (
    <details class="fold" open={open} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{t('For the model')}</summary>
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
        // biome-ignore lint/a11y/useMediaCaption: an agent's audio has no captions
        <audio class="content-audio" controls src={`data:${block.mimeType};base64,${block.data}`} />
      )
    case 'resource_link':
      return <LinkChip link={block} />
    case 'resource':
      return <Resource resource={block} />
    case 'unknown':
      return (
        <details class="fold">
          <summary>{t('Unknown content type: {0}', block.kind)}</summary>
          <HighlightedCode text={pretty(block.raw)} language="json" />
        </details>
      )
  }
}

/** Text as Markdown; very long text as plain text. */
function LongText({ text }: { text: string }) {
  return text.length <= MAX_PROSE ? <MarkdownText text={text} /> : <HighlightedCode text={text} language="" />
}
