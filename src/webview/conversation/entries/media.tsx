import { useState } from 'preact/hooks'
import type { LinkIcon, ResourceBlock, ResourceLinkBlock } from '../../../acp/model.ts'
import { chipOf, fileIcon, nameOfUri } from '../../../common/block-chip.ts'
import { visibleProse } from '../../../common/visible.ts'
import { formatSize, t } from '../../l10n.ts'
import { languageOfPath } from '../../tools/languages.ts'
import { linkTarget } from '../../tools/links.ts'
import { baseName } from '../../tools/title.ts'
import { Icon } from '../../ui/icon.tsx'
import { longTime } from '../../ui/session-dates.ts'
import { useApp } from '../context.ts'
import { HighlightedCode } from './highlighted-code.tsx'

interface PictureProps {
  /** base64 */
  data: string
  mimeType: string
  /** the image's URL, if it has one */
  name?: string
}

/** An image, which a click enlarges. */
export function Picture({ data, mimeType, name }: PictureProps) {
  const [broken, setBroken] = useState(false)
  const label = name ? nameOfUri(name) : t('Image')
  if (broken || !/^image\/[\w.+-]+$/.test(mimeType)) {
    return <Blob name={label} mimeType={mimeType} data={data} icon="file-media" />
  }
  return (
    <button
      type="button"
      class="picture"
      data-action="enlarge"
      title={t('Enlarge')}
      aria-label={t('{0}: Enlarge', label)}
    >
      <img
        class="content-image"
        src={`data:${mimeType};base64,${data}`}
        alt={label}
        onError={() => setBroken(true)}
      />
    </button>
  )
}

interface BlobProps {
  name: string
  mimeType: string | undefined
  /** base64 */
  data: string
  icon: string
}

/** A file with its name and size, which opens in VS Code's editor. */
function Blob({ name, mimeType, data, icon }: BlobProps) {
  const { host } = useApp()
  return (
    <button
      type="button"
      class="chip"
      title={t('Open {0}', name)}
      onClick={() => host.send('conversation/openBlob', { name, mimeType: mimeType ?? '', data })}
    >
      <Icon name={icon} />
      <span class="chip-label truncate">{name}</span>
      <span class="quiet">{[mimeType, decodedSize(data)].filter(Boolean).join(' · ')}</span>
    </button>
  )
}

function decodedSize(base64: string): string {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return formatSize(Math.max(0, Math.floor((base64.length * 3) / 4) - padding))
}

/** A link to a resource. */
export function LinkChip({ link }: { link: ResourceLinkBlock }) {
  const { host } = useApp()
  const name = link.title || link.name || nameOfUri(link.uri)
  const { size, icons } = link
  const web = /^https?:/i.test(link.uri)
  const { title, host: target } = linkTarget(link.uri, name)
  const plain = web ? 'globe' : fileIcon(baseName(link.uri))
  return (
    <button
      type="button"
      class="chip"
      title={visibleProse(
        [title, name, link.description, link.mimeType, size !== undefined && formatSize(size), modified(link)]
          .filter(Boolean)
          .join('\n'),
      )}
      onClick={event => {
        const isMine = event.currentTarget.closest('.prompt') !== null
        host.send('conversation/link', { href: link.uri, ...(isMine && { of: 'user' as const }) })
      }}
    >
      <LinkIconView icons={icons ?? []} fallback={plain} />
      <span class="chip-label truncate">{visibleProse(name)}</span>
      {target !== undefined && <span class="link-host">{target}</span>}
    </button>
  )
}

/** The icon of a link for light and dark themes, or the codicon if the agent sent no icon that can be shown. */
function LinkIconView({ icons, fallback }: { icons: readonly LinkIcon[]; fallback: string }) {
  const [broken, setBroken] = useState<readonly string[]>([])
  if (icons.length === 0) return <Icon name={fallback} />
  return (['light', 'dark'] as const).map(theme => {
    const icon = icons.find(one => one.theme === theme) ?? icons.find(one => !one.theme) ?? icons[0]!
    // both icons are in the page, and the styles hide one of them
    return broken.includes(icon.src) ? (
      <span key={theme} class={`for-${theme}`}>
        <Icon name={fallback} />
      </span>
    ) : (
      <img
        key={theme}
        class={`agent-image for-${theme}`}
        src={icon.src}
        alt=""
        onError={() => setBroken(all => [...all, icon.src])}
      />
    )
  })
}

function modified({ lastModified }: { lastModified?: number }): string | undefined {
  return lastModified === undefined ? undefined : t('Modified: {0}', longTime(lastModified))
}

/** An embedded resource: text is highlighted, and collapsed unless it's important; anything else is shown as a file. */
export function Resource({ resource }: { resource: ResourceBlock }) {
  const [open, setOpen] = useState(resource.isImportant === true)
  const name = nameOfUri(resource.uri)
  const file = nameOfUri(resource.uri.replace(/#.*$/s, ''))
  const { text, blob, mimeType } = resource
  if (text === undefined) {
    if (blob !== undefined && mimeType && /^image\/(?!svg)[\w.+-]+$/.test(mimeType))
      return <Picture data={blob} mimeType={mimeType} name={resource.uri} />
    return <Blob name={name} mimeType={mimeType} data={blob ?? ''} icon={fileIcon(file)} />
  }
  return (
    <details class="fold resource" open={open} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary
        title={[chipOf(resource).detail ?? resource.uri, modified(resource)].filter(Boolean).join('\n')}
      >
        <Icon name={fileIcon(file)} />
        <span class="chip-label truncate">{name}</span>
      </summary>
      {open && <HighlightedCode text={text} language={languageOfPath(file) || languageOfType(mimeType)} />}
    </details>
  )
}

function languageOfType(mimeType: string | undefined): string {
  return /^(?:text|application)\/(?:x-)?([\w+]+)/.exec(mimeType ?? '')?.[1] ?? ''
}
