import type { ComponentChildren, Ref } from 'preact'
import { Icon } from './icon.tsx'

interface IconButtonProps {
  icon: string
  label: string
  /** the tooltip; by default, the label */
  title?: string
  onClick: (event: MouseEvent) => void
  disabled?: boolean
  class?: string
  pressed?: boolean
  /** whether the button's menu is open */
  expanded?: boolean
  buttonRef?: Ref<HTMLButtonElement>
}

/** A square button with an icon, as in VS Code's toolbars. */
export function IconButton({
  icon,
  label,
  title = label,
  onClick,
  disabled,
  class: className,
  pressed,
  expanded,
  buttonRef,
}: IconButtonProps) {
  return (
    <button
      ref={buttonRef}
      type="button"
      class={`icon-button${className ? ` ${className}` : ''}`}
      title={title}
      aria-label={label}
      aria-pressed={pressed}
      aria-haspopup={expanded === undefined ? undefined : 'listbox'}
      aria-expanded={expanded}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  )
}

interface ButtonProps {
  children: ComponentChildren
  onClick: () => void
  primary?: boolean
  icon?: string
  title?: string
  /** the label for screen readers, if the visible label isn't sufficient; starts with the visible label */
  label?: string
  disabled?: boolean
  class?: string
  buttonRef?: Ref<HTMLButtonElement>
}

export function Button({
  children,
  onClick,
  primary,
  icon,
  title,
  label,
  disabled,
  class: className,
  buttonRef,
}: ButtonProps) {
  return (
    <button
      ref={buttonRef}
      type="button"
      class={`button ${primary ? 'primary' : 'secondary'}${className ? ` ${className}` : ''}`}
      title={title ?? label}
      aria-label={label}
      disabled={disabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      <span class="button-label">{children}</span>
    </button>
  )
}
