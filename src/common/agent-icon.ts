/** The codicon of an agent without an icon of its own. */
export const AGENT_ICON = 'sparkle'

/** The colors of VS Code's charts, which every theme has. */
export const AGENT_COLORS = [
  'charts.blue',
  'charts.green',
  'charts.orange',
  'charts.purple',
  'charts.red',
  'charts.yellow',
] as const
export type AgentColor = (typeof AGENT_COLORS)[number]

/** The icon and its color as one text, in the style of VS Code's `sync~spin`, since they're always shown together. */
export function iconInColor<T extends string | undefined>(
  icon: T,
  color: AgentColor | undefined,
): T | string {
  return color === undefined ? icon : `${icon ?? AGENT_ICON}~${color}`
}

export function iconAndColor(text: string): { icon: string; color?: AgentColor } {
  const color = AGENT_COLORS.find(one => text.endsWith(`~${one}`))
  return color === undefined ? { icon: text } : { icon: text.slice(0, -color.length - 1), color }
}

/** Whether an icon is the name of a codicon, and no image. */
export function isCodicon(icon: string): boolean {
  return /^[a-z0-9-]+$/.test(icon)
}
