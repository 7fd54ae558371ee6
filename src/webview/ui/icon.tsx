import { useEffect, useRef } from 'preact/hooks'
import { AGENT_ICON, iconAndColor, isCodicon } from '../../common/agent-icon.ts'
import { loadStyles } from './lazy.tsx'

interface IconProps {
  /** a codicon's name, without the prefix */
  name: string
  class?: string
  /** The label for screen readers; without it, the icon is decoration. */
  label?: string
}

export function Icon({ name, class: className, label }: IconProps) {
  const classes = `codicon codicon-${name}${className ? ` ${className}` : ''}`
  return label ? (
    <span class={classes} role="img" aria-label={label} title={label} />
  ) : (
    <span class={classes} aria-hidden="true" />
  )
}

/** An agent's icon, in its color if it has one. */
export function AgentIcon({ icon: text }: { icon: string | undefined }) {
  const { icon, color } = iconAndColor(text ?? AGENT_ICON)
  if (color === undefined) return <PlainIcon icon={icon} />
  return (
    <span
      class="agent-colored"
      style={{ color: `var(--vscode-${color.replace('.', '-')})` }}
      aria-hidden="true"
    >
      <PlainIcon icon={icon} />
    </span>
  )
}

/** A codicon, or an image from the host. An SVG in `currentColor` has the color of the text. */
function PlainIcon({ icon }: { icon: string }) {
  if (icon.startsWith('data:image/svg+xml') && icon.includes('currentColor')) {
    return <span class="agent-icon agent-glyph" style={{ maskImage: `url("${icon}")` }} aria-hidden="true" />
  }
  if (/^(?:data:image\/|https?:|vscode-|file:)/.test(icon)) {
    return <img class="agent-image" src={icon} alt="" aria-hidden="true" />
  }
  return <AnyIcon name={isCodicon(icon) ? icon : AGENT_ICON} />
}

/** The names of icons that were already looked up, since lists draw the same icon many times. */
const lookedFor = new Set<string>()

/** Any codicon; the page loads the styles of icons that Parley itself doesn't use. */
function AnyIcon({ name }: { name: string }) {
  const icon = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (!icon.current || lookedFor.has(name)) return
    lookedFor.add(name)
    if (getComputedStyle(icon.current, '::before').content === 'none') void loadStyles('icons')
  }, [name])
  return <span ref={icon} class={`codicon codicon-${name} agent-icon`} aria-hidden="true" />
}
