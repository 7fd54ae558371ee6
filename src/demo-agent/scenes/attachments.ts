import type { ContentBlock } from '@agentclientprotocol/sdk'

/** Names back everything a prompt holds besides its text, so that a person sees what reached the agent. */
export function attachments(prompt: readonly ContentBlock[]): string | undefined {
  const lines = prompt.flatMap(block => {
    const line = nameOf(block)
    return line ? [`- ${line}`] : []
  })
  return lines.length > 0 ? `You sent along:\n\n${lines.join('\n')}\n\n` : undefined
}

function nameOf(block: ContentBlock): string | undefined {
  switch (block.type) {
    case 'resource_link':
      return `a link to \`${block.name}\` (${block.uri})`
    case 'resource': {
      const { resource } = block
      const size =
        'text' in resource
          ? `${resource.text.split('\n').length} lines`
          : `${Math.floor((resource.blob.length * 3) / 4)} bytes`
      return `the content of ${resource.uri} (${size})`
    }
    case 'image':
    case 'audio':
      return `${block.type === 'image' ? 'an image' : 'a sound'} (${block.mimeType}, about ${Math.floor((block.data.length * 3) / 4)} bytes)`
    default:
      return undefined
  }
}
