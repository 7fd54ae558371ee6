import { signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { t } from '../../l10n.ts'
import { useApp } from '../context.ts'

/** Change of the height per press of an arrow key, in pixels. */
const STEP = 24
/** Maximum height of the composer as a share of the window. */
const MAX_SHARE = 0.8

/** The height set by the user, in pixels. */
const chosen = signal<number | undefined>(undefined)

/** Restores the height that the user set before a reload. */
export function restoreHeight(height: number | undefined): void {
  chosen.value = height
  setHeight(document.querySelector('.composer-text'), height)
}

function setHeight(text: HTMLElement | null, height: number | undefined): void {
  const most = Math.round(window.innerHeight * MAX_SHARE)
  text?.style.setProperty('--composer-height', height === undefined ? '' : `${Math.min(height, most)}px`)
  text?.classList.toggle('resized', height !== undefined)
}

/**
 * The upper edge of the composer, which can be dragged or moved with the arrow keys; a double-click restores automatic
 * height.
 */
export function ResizeHandle({ text }: { text: () => HTMLElement | null }) {
  const { host } = useApp()
  const from = useRef<{ y: number; height: number } | undefined>(undefined)
  const apply = (height: number | undefined) => {
    chosen.value = height === undefined ? undefined : Math.max(36, Math.round(height))
    setHeight(text(), chosen.value)
  }
  const keep = () => host.send('composer/height', { height: chosen.peek() })
  const now = () => text()?.getBoundingClientRect().height ?? 0
  return (
    // biome-ignore lint/a11y/useSemanticElements: a line that is moved is no thematic break
    <div
      class="composer-resize"
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label={t('Input height')}
      aria-valuenow={chosen.value ?? 0}
      title={t('Drag to resize, double-click to reset')}
      onDblClick={() => {
        apply(undefined)
        keep()
      }}
      onPointerDown={event => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
        from.current = { y: event.clientY, height: now() }
      }}
      onPointerMove={event => {
        const { current } = from
        if (current) apply(current.height + current.y - event.clientY)
      }}
      onPointerUp={() => {
        if (from.current && from.current.height !== now()) keep()
        from.current = undefined
      }}
      onKeyDown={event => {
        if (event.key === 'ArrowUp') apply(now() + STEP)
        else if (event.key === 'ArrowDown') apply(now() - STEP)
        else if (event.key === 'Home') apply(undefined)
        else return
        keep()
        event.preventDefault()
        event.stopPropagation()
      }}
    />
  )
}
