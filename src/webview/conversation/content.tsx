import { useState } from 'preact/hooks'
import type { ContentBlock, ResourceBlock, ResourceLinkBlock } from '../../acp/model.ts'
import { t } from '../l10n.ts'
import { MarkdownText } from '../markdown/view.tsx'
import { pretty } from '../tools/raw.ts'
import { baseName } from '../tools/title.ts'
import { Icon } from '../ui/icon.tsx'
import { PlainCode } from '../ui/scroll-area.tsx'
import { useApp } from './context.ts'

/** More of a text than this is drawn only when asked for. Characters. */
const longText = 24_000

/** One block of content, of whatever kind. */
export function ContentBlockView({ block }: { block: ContentBlock }) {
  switch (block.type) {
    case 'text':
      return <LongText text={block.text} />
    case 'image':
      return <Image data={block.data} mimeType={block.mimeType} name={block.uri} />
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
          <PlainCode text={pretty(block.raw)} />
        </details>
      )
  }
}

/** Text as markdown; a very long one shows its beginning first. */
export function LongText({ text }: { text: string }) {
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

function Image({ data, mimeType, name }: { data: string; mimeType: string; name?: string }) {
  const [broken, setBroken] = useState(false)
  const label = name ? baseName(name) : t('Image')
  if (broken || !/^image\/[\w.+-]+$/.test(mimeType)) {
    return (
      <span class="chip">
        <Icon name="file-media" />
        <span class="chip-label">{t('An image that cannot be shown ({0})', mimeType)}</span>
      </span>
    )
  }
  return (
    <img
      class="content-image"
      src={`data:${mimeType};base64,${data}`}
      alt={label}
      title={name}
      onError={() => setBroken(true)}
    />
  )
}

function LinkChip({ link }: { link: ResourceLinkBlock }) {
  const { host } = useApp()
  return (
    <button
      type="button"
      class="chip"
      title={[link.title, link.uri, link.description].filter(Boolean).join('\n')}
      onClick={() => host.openLink(link.uri)}
    >
      <Icon name={/^https?:/.test(link.uri) ? 'globe' : 'file'} />
      <span class="chip-label">{link.title ?? link.name ?? baseName(link.uri)}</span>
    </button>
  )
}

function Resource({ resource }: { resource: ResourceBlock }) {
  const name = decodeName(resource.uri)
  if (resource.text === undefined) {
    return (
      <span class="chip" title={resource.uri}>
        <Icon name="file-binary" />
        <span class="chip-label">{name}</span>
      </span>
    )
  }
  return (
    <details class="fold resource">
      <summary title={resource.uri}>
        <Icon name="file-code" />
        <span class="chip-label">{name}</span>
      </summary>
      <PlainCode text={resource.text} />
    </details>
  )
}

function decodeName(uri: string): string {
  const name = baseName(uri)
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
