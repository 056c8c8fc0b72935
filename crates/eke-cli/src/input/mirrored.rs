//! Words of the command line that stand for what a library has.

/// An enum of words, whose comments `--help` shows, that becomes the library's of the same names.
macro_rules! mirrored {
    ($(#[$about:meta])* $name:ident for $of:ty { $($(#[$help:meta])* $word:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, clap::ValueEnum)]
        enum $name {
            $($(#[$help])* $word,)*
        }

        impl From<$name> for $of {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$word => Self::$word,)*
                }
            }
        }
    };
}
