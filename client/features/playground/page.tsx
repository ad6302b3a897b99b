import { Box, Button, Flex, HStack, Heading, Text } from '@chakra-ui/react'
import { CodeXml, Columns2, Eraser, History, SlidersHorizontal, SquarePen } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { IconButton } from '../../components/icon-button.tsx'
import { Notice } from '../../components/notice.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { t } from '../../i18n/t.ts'
import { useDocumentTitle } from '../../lib/document-title.ts'
import { useSession } from '../../lib/session.ts'
import { useStore } from '../../lib/store.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { useIsNarrow } from '../../lib/use-media.ts'
import { Composer } from './composer.tsx'
import { ConversationsSheet } from './conversations-sheet.tsx'
import { drafted, dropDraft, moveMessage } from './drafts.ts'
import { ExportSheet } from './export-sheet.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useOffer } from './models.ts'
import { settingsOf } from './settings.ts'
import { SidePanel } from './side-panel.tsx'
import { conversationName, conversationsOf, type StoredConversation } from './stored-conversations.ts'
import { Thread } from './thread.tsx'
import { ToolsSheet } from './tools-sheet.tsx'
import { useConversation, type Words } from './use-conversation.ts'

const usualModel = 'gpt-4o-mini'

const newId = (): string => `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`

/** The conversation on the page: that of the address, else where the reader was typing, their latest, or a new one. */
function useShown(reader: number, id: string) {
  const conversations = useStore(conversationsOf(reader))
  const [latest] = useState(() => drafted(reader)[0] ?? conversations[0]?.id ?? newId())
  const shown = id || latest
  return { conversations, id: shown, stored: conversations.find((one) => one.id === shown) }
}

/** A new conversation begins with what was typed for one and not sent. */
const newConversation = (reader: number, { conversations, id: shown }: ReturnType<typeof useShown>): string =>
  drafted(reader).find((id) => id !== shown && !conversations.some((one) => one.id === id)) ?? newId()

/** The choice of models is in the address, the rest is remembered. */
function useChoices(reader: number) {
  const stored = settingsOf(reader)
  const remembered = useStore(stored)
  const [address, setAddress] = useUrlState({ model: '', group: '', beside: '', conversation: '' })
  const shown = useShown(reader, address.conversation)
  const offer = useOffer(address.group || remembered.group)
  const settings = { ...remembered, group: offer.group }
  const usual = offer.models.includes(usualModel) ? usualModel : (offer.models[0] ?? '')
  const served = offer.models.includes(shown.stored?.model ?? '') ? shown.stored?.model : undefined
  const model = address.model || served || usual
  const begin = (id: string) => setAddress({ conversation: id, model, beside: address.beside })
  return {
    offer,
    settings,
    model,
    beside: address.beside,
    shown,
    show: (one: StoredConversation) =>
      setAddress({ conversation: one.id, model: one.model, beside: one.right.length > 0 ? one.beside : '' }),
    begin: () => begin(newConversation(reader, shown)),
    afterRemoval: (removed: string) => {
      if (removed !== shown.id) return dropDraft(reader, removed)
      const id = newId()
      moveMessage(reader, removed, id)
      begin(id)
    },
    setModel: (chosen: string) => setAddress({ model: chosen }, { replace: true }),
    setBeside: (chosen: string) => setAddress({ beside: chosen }, { replace: true }),
    change: (patch: Partial<typeof remembered>) => {
      stored.set({ ...remembered, ...patch })
      if (patch.group !== undefined) setAddress({ group: '' }, { replace: true })
    },
    /** Another model than the first to compare it with. */
    other: offer.models.find((name) => name !== model) ?? model,
  }
}

export function Page() {
  useDocumentTitle(t('操练场'))
  const reader = useSession().user?.id ?? 0
  const choices = useChoices(reader)
  return <Conversation key={choices.shown.id} reader={reader} choices={choices} />
}

/** One conversation, and what leads to the others. */
function Conversation({ reader, choices }: { reader: number; choices: ReturnType<typeof useChoices> }) {
  const narrow = useIsNarrow()
  const { isAdmin } = useSession()
  const { offer, settings, model, beside, shown: opened } = choices
  const left = useConversation(settings, model, { id: opened.id, side: 'left' })
  const right = useConversation(settings, beside, { id: opened.id, side: 'right' })
  const [listOpen, setListOpen] = useState(false)
  const [panelOpen, setPanelOpen] = useState(false)
  const [exporting, setExporting] = useState(false)
  const [editingTools, setEditingTools] = useState(false)
  const comparing = beside !== ''
  const running = left.running || (comparing && right.running)
  const { stop: stopRight } = right
  useEffect(() => {
    // A reply that nobody sees could neither be read nor stopped, and would be paid for.
    if (!comparing) stopRight()
  }, [comparing, stopRight])
  const shown = comparing ? [left, right] : [left]

  const send = (words: Words) => shown.forEach((conversation) => conversation.send(words))
  const stop = () => shown.forEach((conversation) => conversation.stop())
  const clear = () => [left, right].forEach((conversation) => conversation.clear())
  const panel = (
    <SidePanel
      offer={offer}
      settings={settings}
      onChange={choices.change}
      model={model}
      onModel={choices.setModel}
      beside={beside}
      onBeside={choices.setBeside}
      asked={shown}
      onTools={() => {
        setPanelOpen(false)
        setEditingTools(true)
      }}
    />
  )

  return (
    <Flex h="full" minH="0">
      <Flex direction="column" flex="1" minW="0" minH="0">
        <Flex align="center" justify="space-between" gap="2" px={{ base: '4', sm: '6' }} h="12" flexShrink="0">
          <Flex align="baseline" gap="3" minW="0">
            <Heading as="h1" textStyle="lg" fontWeight="semibold" flexShrink="0">
              {t('操练场')}
            </Heading>
            {!narrow && opened.stored && (
              <Text textStyle="sm" color="fg.muted" truncate>
                {conversationName(opened.stored)}
              </Text>
            )}
            {narrow && !comparing && (
              <Text textStyle="xs" fontFamily="mono" color="fg.muted" truncate>
                {model}
              </Text>
            )}
          </Flex>
          <HStack gap="0.5" flexShrink="0">
            <IconButton icon={History} label={t('对话列表')} onClick={() => setListOpen(true)} />
            {!narrow && (
              <IconButton
                icon={SquarePen}
                label={t('新对话')}
                disabled={left.messages.length === 0 && right.messages.length === 0}
                onClick={choices.begin}
              />
            )}
            <IconButton
              icon={Columns2}
              label={comparing ? t('取消对比') : t('对比两个模型')}
              aria-pressed={comparing}
              onClick={() => choices.setBeside(comparing ? '' : choices.other)}
            />
            <IconButton icon={CodeXml} label={t('导出为代码')} onClick={() => setExporting(true)} />
            <IconButton
              icon={Eraser}
              label={t('清除上下文')}
              disabled={left.messages.length === 0 && right.messages.length === 0}
              onClick={clear}
            />
            {narrow && <IconButton icon={SlidersHorizontal} label={t('参数')} onClick={() => setPanelOpen(true)} />}
          </HStack>
        </Flex>
        {offer.error && <ErrorState error={offer.error} onRetry={offer.retry} />}
        {offer.isEmpty && (
          <Box px={{ base: '4', sm: '6' }}>
            {isAdmin ? (
              <Notice
                tone="warning"
                action={
                  <Button asChild size="xs">
                    <Link href="/admin/channels">{t('查看渠道列表')}</Link>
                  </Button>
                }
              >
                {t('还没有可用的模型，先添加或启用一个渠道。')}
              </Notice>
            ) : (
              <Notice tone="warning">{t('还没有可用的模型，请联系管理员添加渠道。')}</Notice>
            )}
          </Box>
        )}
        <Flex flex="1" minH="0" direction={{ base: 'column', md: 'row' }}>
          {shown.map((conversation, index) => (
            <Flex
              key={index}
              flex="1"
              minW="0"
              minH="0"
              borderStartWidth={{ base: '0', md: index > 0 ? '1px' : '0' }}
              borderTopWidth={{ base: index > 0 ? '1px' : '0', md: '0' }}
            >
              <Thread conversation={conversation} price={offer.priceOf(conversation.model)} titled={comparing} />
            </Flex>
          ))}
        </Flex>
        <Composer
          conversation={opened.id}
          running={running}
          waiting={!shown.every(({ isReady }) => isReady)}
          takesImages={shown.some(({ parameters }) => parameters.images)}
          onSend={send}
          onStop={stop}
        />
      </Flex>
      {narrow ? (
        <Sheet open={panelOpen} onClose={() => setPanelOpen(false)} title={t('参数')}>
          {panel}
        </Sheet>
      ) : (
        <Box as="section" aria-label={t('参数')} w="72" flexShrink="0" borderStartWidth="1px" overflowY="auto" p="4">
          {panel}
        </Box>
      )}
      <ToolsSheet
        open={editingTools}
        onClose={() => setEditingTools(false)}
        tools={settings.tools}
        onChange={(tools) => choices.change({ tools })}
      />
      <ConversationsSheet
        open={listOpen}
        onClose={() => setListOpen(false)}
        reader={reader}
        conversations={opened.conversations}
        shown={opened.id}
        onShow={choices.show}
        onNew={choices.begin}
        onRemoved={choices.afterRemoval}
      />
      <ExportSheet open={exporting} onClose={() => setExporting(false)} body={left.body} />
    </Flex>
  )
}
