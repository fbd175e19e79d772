import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Component, type ReactNode } from 'react';
import { answers, reloadOnce } from './build';

const kEvery = 2_000; // ms between two looks whether the server is back.

type Props = { children: () => ReactNode; again?: () => void };
type State = { error: Error | undefined; tries: number };

const missing = (error: Error | undefined) => error?.name === 'ChunkError';

// What fails below it is shown as a message with a way on. A part that could not be loaded is loaded
// by itself when the server answers again; if that fails too, the whole page is loaded once more.
export class Boundary extends Component<Props, State> {
  override state: State = { error: undefined, tries: 0 };
  private timer: number | undefined;
  private gone = false;

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch() {
    if (missing(this.state.error)) this.watch();
  }

  override componentDidMount() {
    this.gone = false;
  }

  override componentWillUnmount() {
    this.gone = true;
    window.clearTimeout(this.timer);
  }

  private watch() {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.look(), kEvery);
  }

  private async look() {
    const back = await answers();
    if (this.gone || !this.state.error) return;
    if (back && this.state.tries === 0) this.retry();
    else if (!back || !reloadOnce('chunk')) this.watch();
  }

  private readonly retry = () => {
    window.clearTimeout(this.timer);
    this.props.again?.();
    this.setState(({ tries }) => ({ error: undefined, tries: tries + 1 }));
  };

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children();
    return (
      <Alert
        color="red"
        role="alert"
        icon={<IconAlertTriangle />}
        title={missing(error) ? 'This page could not be loaded' : 'This page has failed'}
      >
        <Text size="sm">
          {missing(error)
            ? 'The server did not send it. It is tried again by itself when the server answers.'
            : `The console made a mistake: ${error.message}. Nothing of yours is lost on the server.`}
        </Text>
        <Group gap="xs" mt="xs">
          <Button size="xs" variant="default" onClick={this.retry}>
            Try again
          </Button>
          <Button size="xs" variant="default" onClick={() => window.location.reload()}>
            Reload the console
          </Button>
        </Group>
      </Alert>
    );
  }
}
