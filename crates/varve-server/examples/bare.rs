//! The server without any graph, on port 28917: what HTTP alone costs. For measuring with an
//! outside load generator.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = varve_server::ServerConfig {
        port: 28917,
        ..varve_server::ServerConfig::default()
    };
    let state = varve_server::AppState::new(config)?;
    varve_server::start(&state)?.run_until_signal(|_| ())?;
    Ok(())
}
