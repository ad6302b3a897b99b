import { Button, chakra, Flex, HStack, Input, Stack, Switch, Text } from '@chakra-ui/react'
import { Download, MessagesSquare, Pencil, SquarePen, Trash } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Time } from '../../components/cells/time.tsx'
import { confirm } from '../../components/confirm.tsx'
import { saveFile } from '../../components/data-table/csv.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { isComposing } from '../../lib/keyboard.ts'
import { forgetsAtSignOut } from '../../lib/reader-storage.ts'
import { useStore } from '../../lib/store.ts'
import {
  conversationName,
  conversationText,
  findConversations,
  longestName,
  mostConversations,
  removeConversation,
  renameConversation,
  type StoredConversation,
} from './stored-conversations.ts'

const List = chakra('ul')
const Item = chakra('li')

type ConversationsSheetProps = {
  open: boolean
  onClose: () => void
  reader: number
  conversations: readonly StoredConversation[]
  /** The one on the page. */
  shown: string
  onShow: (conversation: StoredConversation) => void
  onNew: () => void
  onRemoved: (id: string) => void
}

/** Everything that the reader has talked about here, to go on with. */
export function ConversationsSheet(props: ConversationsSheetProps) {
  const { open, onClose, reader, conversations, shown, onShow, onNew, onRemoved } = props
  const [keyword, setKeyword] = useState('')
  const [renamed, setRenamed] = useState('')
  const [removals, setRemovals] = useState(0)
  const search = useRef<HTMLInputElement>(null)
  const forgets = useStore(forgetsAtSignOut(reader))
  const found = findConversations(conversations, keyword)
  const remove = async (one: StoredConversation) => {
    const question = {
      title: t('删除对话「{name}」？', { name: conversationName(one) }),
      body: t('对话只保存在此浏览器中，删除后无法恢复。'),
      confirmLabel: t('删除'),
      danger: true,
    }
    if (!(await confirm(question))) return
    removeConversation(reader, one.id)
    onRemoved(one.id)
    setRemovals((count) => count + 1)
  }
  useFocusAfterRename(renamed)
  // What had the focus has gone with its row.
  useEffect(() => {
    if (removals > 0) search.current?.focus()
  }, [removals])
  const stopRenaming = () => {
    setRenamed('')
    return renamed !== ''
  }
  return (
    <Sheet open={open} onClose={onClose} onEscape={stopRenaming} title={t('对话列表')}>
      <Stack gap="4">
        <HStack gap="2">
          <Input
            ref={search}
            type="search"
            value={keyword}
            aria-label={t('搜索对话')}
            placeholder={t('搜索对话')}
            onChange={(event) => setKeyword(event.target.value)}
          />
          <Button
            variant="solid"
            onClick={() => {
              onNew()
              onClose()
            }}
          >
            <SquarePen aria-hidden />
            {t('新对话')}
          </Button>
        </HStack>
        {found.length === 0 && (
          <EmptyState
            icon={MessagesSquare}
            title={conversations.length === 0 ? t('还没有对话') : t('没有符合的对话')}
            description={conversations.length === 0 ? t('发送第一条消息后，对话会出现在这里。') : undefined}
          />
        )}
        <List listStyleType="none" aria-label={t('对话列表')}>
          {found.map((one) => (
            <Item key={one.id} borderBottomWidth="1px" _last={{ borderBottomWidth: '0' }}>
              {renamed === one.id ? (
                <NameField
                  name={conversationName(one)}
                  onDone={(name) => {
                    if (name !== undefined) renameConversation(reader, one.id, name)
                    setRenamed('')
                  }}
                />
              ) : (
                <Flex align="center" gap="1">
                  <Row
                    one={one}
                    isShown={one.id === shown}
                    onShow={() => {
                      onShow(one)
                      onClose()
                    }}
                  />
                  <Acts one={one} onRename={() => setRenamed(one.id)} onRemove={() => void remove(one)} />
                </Flex>
              )}
            </Item>
          ))}
        </List>
        <Text textStyle="xs" color="fg.muted">
          {t('保存在此浏览器中，最多 {count} 个；超出时先去掉最早的。', { count: mostConversations })}
        </Text>
        <Switch.Root
          checked={forgets}
          onCheckedChange={({ checked }) => forgetsAtSignOut(reader).set(checked)}
          size="sm"
          alignSelf="flex-start"
        >
          <Switch.HiddenInput />
          <Switch.Control />
          <Switch.Label>{t('退出登录时删除此浏览器中我的对话和设置')}</Switch.Label>
        </Switch.Root>
      </Stack>
    </Sheet>
  )
}

const renameId = (conversation: string): string => `rename-${conversation}`

/** The button that began it had gone meanwhile. */
function useFocusAfterRename(renamed: string): void {
  const before = useRef('')
  useEffect(() => {
    if (renamed === '') document.getElementById(renameId(before.current))?.focus()
    before.current = renamed
  }, [renamed])
}

type ActsProps = { one: StoredConversation; onRename: () => void; onRemove: () => void }

function Acts({ one, onRename, onRemove }: ActsProps) {
  const name = conversationName(one) || t('新对话')
  const save = () => saveFile(`${name.replace(/[^\p{L}\p{N}]+/gu, '-')}.md`, conversationText(one), 'text/markdown')
  return (
    <HStack gap="0" flexShrink="0">
      <IconButton
        id={renameId(one.id)}
        size="xs"
        icon={Pencil}
        label={t('重命名 {name}', { name })}
        tip={t('重命名')}
        onClick={onRename}
      />
      <IconButton
        size="xs"
        icon={Download}
        label={t('导出 {name}', { name })}
        tip={t('导出为 Markdown')}
        onClick={save}
      />
      <IconButton size="xs" icon={Trash} label={t('删除 {name}', { name })} tip={t('删除')} onClick={onRemove} />
    </HStack>
  )
}

type RowProps = { one: StoredConversation; isShown: boolean; onShow: () => void }

function Row({ one, isShown, onShow }: RowProps) {
  const models = [one.model, one.right.length > 0 ? one.beside : ''].filter(Boolean).join(' · ')
  return (
    <Button
      variant="ghost"
      flex="1"
      minW="0"
      h="auto"
      py="2"
      px="2"
      justifyContent="start"
      textAlign="start"
      aria-current={isShown ? 'true' : undefined}
      onClick={onShow}
    >
      <Stack gap="0.5" minW="0" flex="1">
        <Text truncate fontWeight={isShown ? 'semibold' : 'normal'}>
          {conversationName(one) || t('新对话')}
        </Text>
        <HStack gap="2" textStyle="xs" color="fg.muted" fontWeight="normal" minW="0">
          <Text fontFamily="mono" truncate>
            {models}
          </Text>
          {one.changedAt > 0 && <Time value={new Date(one.changedAt)} />}
        </HStack>
      </Stack>
    </Button>
  )
}

type NameFieldProps = { name: string; /** Undefined: it stays as it is. */ onDone: (name: string | undefined) => void }

function NameField({ name, onDone }: NameFieldProps) {
  const [typed, setTyped] = useState(name)
  return (
    <HStack gap="2" py="2">
      <Input
        autoFocus
        value={typed}
        maxLength={longestName}
        aria-label={t('对话名称')}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || isComposing(event)) return
          // The button that has the focus then would be pressed by it.
          event.preventDefault()
          onDone(typed)
        }}
      />
      <Button variant="solid" onClick={() => onDone(typed)}>
        {t('保存')}
      </Button>
      <Button onClick={() => onDone(undefined)}>{t('取消')}</Button>
    </HStack>
  )
}
