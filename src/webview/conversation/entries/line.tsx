import type { ComponentChildren } from 'preact'
import { Icon } from '../../ui/icon.tsx'

interface LineProps {
  icon: string
  iconClass?: string
  /** what the icon means, for screen readers */
  iconLabel?: string
  children: ComponentChildren
  /** counts, status and duration, at the right */
  end?: ComponentChildren
  title?: string
  /** absent: the line cannot be opened */
  open?: boolean
  onToggle?: () => void
  class?: string
}

/** One line of 24 px that stands for a piece of work; most can be opened. */
export function Line({
  icon,
  iconClass,
  iconLabel,
  children,
  end,
  title,
  open,
  onToggle,
  class: className,
}: LineProps) {
  const content = (
    <>
      <Icon name={icon} class={`line-icon${iconClass ? ` ${iconClass}` : ''}`} />
      {iconLabel && <span class="visually-hidden">{iconLabel}: </span>}
      <span class="line-title">
        {typeof children === 'string' ? <span class="line-text">{children}</span> : children}
      </span>
      {end && <span class="line-end">{end}</span>}
      {onToggle && <Icon name="chevron-right" class={`line-chevron${open ? ' open' : ''}`} />}
    </>
  )
  const classes = `line${className ? ` ${className}` : ''}`
  if (!onToggle) {
    return (
      <div class={classes} title={title}>
        {content}
      </div>
    )
  }
  return (
    <button type="button" class={classes} aria-expanded={open ?? false} title={title} onClick={onToggle}>
      {content}
    </button>
  )
}
