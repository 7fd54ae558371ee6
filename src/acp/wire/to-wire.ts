import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { NotSupportedError } from '../agent-errors.ts'
import type { AgentCapabilities, ContentBlock, McpServer, SessionSetup } from '../model.ts'

/**
 * The common part of `session/new`, `load`, `resume` and `fork`. Only what the agent has a capability for is in it.
 * @param serverToWire how the version writes an MCP server
 */
export function setupToWire<Server>(
  setup: SessionSetup,
  can: AgentCapabilities,
  serverToWire: (server: McpServer) => Server,
) {
  const { cwd, additionalDirectories, systemPrompt } = setup
  // Several agents take a relative folder and go wrong later.
  for (const folder of [cwd, ...additionalDirectories]) {
    if (!path.isAbsolute(folder)) throw new NotSupportedError(l10n.t("{0} isn't an absolute path.", folder))
  }
  const takes = can.systemPrompt && (systemPrompt?.mode === 'append' || can.systemPrompt.override)
  const prompted = takes && systemPrompt && systemPrompt.content.length > 0
  return {
    cwd,
    mcpServers: setup.mcpServers.filter(server => can.mcp[server.type]).map(serverToWire),
    ...(can.additionalDirectories && additionalDirectories.length > 0 ? { additionalDirectories } : {}),
    ...(prompted
      ? { systemPrompt: { mode: systemPrompt.mode, content: promptToWire(systemPrompt.content, can) } }
      : {}),
  }
}

/** The prompt's blocks. Throws {@link NotSupportedError} for a kind the agent does not take. */
export function promptToWire(content: ContentBlock[], can: AgentCapabilities) {
  if (content.length === 0) throw new NotSupportedError(l10n.t('The prompt is empty.'))
  return content.map(block => blockToWire(block, can))
}

function blockToWire(block: ContentBlock, can: AgentCapabilities) {
  switch (block.type) {
    case 'text':
      return { type: 'text' as const, text: block.text }
    case 'resource_link': {
      const { type, uri, name, title, description, mimeType, size } = block
      return { type, uri, name, title, description, mimeType, size }
    }
    case 'image': {
      if (!can.prompt.image) throw new NotSupportedError(l10n.t("The agent doesn't support images."))
      const { type, data, mimeType, uri } = block
      return { type, data, mimeType, uri }
    }
    case 'audio': {
      if (!can.prompt.audio) throw new NotSupportedError(l10n.t("The agent doesn't support audio."))
      return { type: 'audio' as const, data: block.data, mimeType: block.mimeType }
    }
    case 'resource': {
      if (!can.prompt.embeddedContext)
        throw new NotSupportedError(l10n.t("The agent doesn't support embedded resources."))
      const { uri, mimeType, text, blob } = block
      return {
        type: 'resource' as const,
        resource:
          blob !== undefined && text === undefined
            ? { uri, mimeType, blob }
            : { uri, mimeType, text: text ?? '' },
      }
    }
    case 'unknown':
      throw new NotSupportedError(l10n.t("Content of type “{0}” can't be sent.", block.kind))
  }
}
